import { sql, type RawBuilder } from 'kysely';

export interface Person {
  id: number;
  name: string;
}

/** JSON of the `Person` in the row of `users` with this alias. */
export function personOf(alias: string): RawBuilder<Person> {
  return sql<Person>`json_build_object('id', ${sql.ref(`${alias}.id`)}, 'name', ${sql.ref(`${alias}.name`)})`;
}
