// These tables count the bytes that each project stores.

/**
 * Writer: `foldStoredBytes`. A project without a row stores nothing. What is missing stands in `stored_byte_changes`,
 * whose writers are triggers.
 */
export interface StoredBytesTable {
  project_id: number;
  bytes: number;
}

/** Writer: the API, when it starts. At most one row. */
export interface StoredBytesLimitTable {
  bytes: number;
}
