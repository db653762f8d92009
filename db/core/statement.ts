// Builds the text of frequent statements once, and conditions whose text does not depend on the number of values.
import { CompiledQuery, sql, type RawBuilder } from 'kysely';
import type { Db } from './client.js';

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value or a placeholder, for functions that build parts of statements with and without `createStatement`. */
export type Value<T> = T | RawBuilder<T>;

/** Placeholders for the values that each execution passes. */
type Placeholders<Values> = { readonly [Name in keyof Values]-?: RawBuilder<Values[Name]> };

/** Calls `build` once, with a placeholder for each of `names`. `build` must not depend on anything else. */
export function createStatement<Values extends object, Row>(
  names: readonly (keyof Values & string)[],
  build: (values: Placeholders<Values>) => RawBuilder<Row>,
): (db: Db, values: Values) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined;
  const placeholders = Object.fromEntries(names.map((name) => [name, sql.val(new Placeholder(name))]));
  return async (db, values) => {
    compiled ??= build(placeholders as unknown as Placeholders<Values>).compile(db);
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(compiled.sql, parameters));
    return rows;
  };
}

/**
 * For conditions such as `.where('id', '=', anyOf(ids))`. The text of `IN` depends on the number of values, so each
 * number would be a separate prepared statement.
 */
export function anyOf<T>(values: readonly T[]): RawBuilder<T> {
  return sql<T>`ANY (${values})`;
}
