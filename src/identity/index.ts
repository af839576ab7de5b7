export { DEFAULT_VAULT, OWNER } from './directory.ts';
export { ensureOwner, ensureVaultWithAdmin, importScopeFile, SCOPE_FILENAME } from './first-start.ts';
export { NOBODY, Principals } from './principals.ts';
export { createSigninCode, redeemSigninCode, SESSION_SECONDS } from './signin.ts';
