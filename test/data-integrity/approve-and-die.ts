import { startDying } from '../support/die-at.ts';
import { openReview } from './review.ts';

/** A process that approves one proposal, and dies where the test wants it to. */
const [databaseUrl, home, vault, proposal] = process.argv.slice(2) as [string, string, string, string];
const { app, approve, close } = await openReview({ home, databaseUrl: databaseUrl || undefined });
await app.catalogue.all();
startDying();
await approve(proposal, vault);
await close();
