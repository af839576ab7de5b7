export { fitsMemory, MAX_MEMORY_BYTES, Memory } from './memory.ts';
export { changeMemory, createMemory, findMemory, holdMemory, latestMemories, searchMemories } from './store.ts';
