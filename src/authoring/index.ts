export { createDraftReader } from './drafts.ts';
export { basedOn, type EditedFlow, editDocument, readEditDocument } from './edit-document.ts';
export { createFlowTarget } from './flow-target.ts';
export { assertAuthoringOpen } from './gate.ts';
export { createNoteVisibility } from './note-visibility.ts';
