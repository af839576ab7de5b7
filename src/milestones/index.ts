export {
  changeMilestone,
  MILESTONE_HEALTHS,
  MILESTONE_PRIORITIES,
  MILESTONE_STATUSES,
  type Milestone,
  type MilestoneChange,
  type MilestoneFields,
  NEW_MILESTONE,
  readChange,
} from './milestone.ts';
export { createMilestone, loadMilestone, lockMilestone, saveMilestone } from './store.ts';
