import type { ColumnType } from 'kysely';

export type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
/** An exact decimal: the driver gives and takes `numeric` as text. */
export type Decimal = ColumnType<string, string | undefined, string>;
/** A `json` column: parsed by the driver on the way out, JSON text on the way in. */
export type Json<T> = ColumnType<T, string, string>;
