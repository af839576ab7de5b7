/** Databases of tests on PostgreSQL are copies of this one, which has the schema. */
export const TEMPLATE = 'flowright_template';
