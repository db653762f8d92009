import { sql, type RawBuilder } from 'kysely';

/** A user as others see them. */
export interface Person {
  id: number;
  name: string;
}

/** JSON of the `Person` whose row of `users` has this alias. */
export function personOf(alias: string): RawBuilder<Person> {
  return sql<Person>`json_build_object('id', ${sql.ref(`${alias}.id`)}, 'name', ${sql.ref(`${alias}.name`)})`;
}
