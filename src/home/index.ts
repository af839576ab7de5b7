export { ensureHome, readConfigFile } from './config-file.ts';
export { syncFolder, writeDurably } from './durable-file.ts';
export { type HubLock, readHubLock, removeHubLock, writeHubLock } from './hub-lock.ts';
export { makeFolder } from './make-folder.ts';
export { packageRoot, packageVersion } from './package-root.ts';
export { type HomePaths, homePaths, resolveHome } from './paths.ts';
export { isAlive, type RunningProcess, thisProcess } from './running-process.ts';
export { keptSealingKey, lostKeyAdvice, readSealingKey, sealingKey } from './sealing-key.ts';
