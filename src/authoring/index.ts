export { createDraftReader } from './drafts.ts';
export { type EditedFlow, editDocument, readEditDocument } from './edit-document.ts';
export { createFlowTarget } from './flow-target.ts';
export { createNoteVisibility } from './note-visibility.ts';
