import { sql, type RawBuilder } from 'kysely';

export interface Person {
  id: number;
  name: string;
}

/**
 * The SQL expression that builds a `Person` from the joined table `users` with this alias. After an outer join without
 * a match, both fields are null.
 */
export function personOf(alias: string): RawBuilder<Person> {
  return sql<Person>`json_build_object('id', ${sql.ref(`${alias}.id`)}, 'name', ${sql.ref(`${alias}.name`)})`;
}
