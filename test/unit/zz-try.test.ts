import { it } from 'vitest';
import { createCatalogue } from '../../src/rooms.ts';
import { openApiDocument } from '../../src/surfaces/http/openapi.ts';
it('x', async () => { const d = openApiDocument(await createCatalogue().all());
 const walk = (v: any, p: string) => { if (v && typeof v==='object') for (const k in v) { if (k==='$ref' && String(v[k]).startsWith('#/$defs')) console.log(p, v[k]); walk(v[k], p+'/'+k); } }; walk(d,''); });
