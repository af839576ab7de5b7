import type { Database } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Config } from '../kernel/config.ts';
import { memberOperations } from './member-operations.ts';
import { tokenOperations } from './token-operations.ts';
import { userOperations } from './user-operations.ts';
import { vaultOperations } from './vault-operations.ts';
import { whoami } from './whoami-operation.ts';

export interface IdentityNeeds {
  database: Database;
  clock: Clock;
  config: Config;
}

export const operations = [whoami, ...userOperations, ...memberOperations, ...tokenOperations, ...vaultOperations];
