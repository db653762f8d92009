// Statements that are executed so often that their text is put together once.
import { CompiledQuery, sql, type Compilable, type RawBuilder } from 'kysely';
import type { Db } from './client.js';

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Statements may be put together each time, or be made once. */
export type Value<T> = T | RawBuilder<T>;

/** Stand for the values that each execution brings. */
type Placeholders<Values> = { readonly [Name in keyof Values]-?: RawBuilder<Values[Name]> };

/** `build` is called once, with a placeholder for each of `names`; it must not depend on anything else. */
export function createStatement<Values extends object, Row>(
  names: readonly (keyof Values & string)[],
  build: (values: Placeholders<Values>) => RawBuilder<Row>,
): (db: Db, values: Values) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined;
  const given = Object.fromEntries(names.map((name) => [name, sql.val(new Placeholder(name))]));
  return async (db, values) => {
    compiled ??= build(given as unknown as Placeholders<Values>).compile(db);
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(compiled.sql, parameters));
    return rows;
  };
}

/**
 * The rows of a query that every run executes: its text must always be the same, for it is prepared under the name
 * (client.ts).
 */
export async function executePrepared<Row>(db: Db, name: string, query: Compilable<Row>): Promise<Row[]> {
  const { sql: text, parameters } = query.compile();
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(`/* ${name} */ ${text}`, [...parameters]));
  return rows;
}
