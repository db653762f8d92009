import { sql, type Kysely } from 'kysely';

/** Services of projects, and their actions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE services (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      project_id integer NOT NULL REFERENCES projects (id),
      name text NOT NULL,
      description text NOT NULL,
      version text NOT NULL,
      documentation_url text,
      connection_kinds text[] NOT NULL,
      action_count integer NOT NULL,
      bytes bigint NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );

    COMMENT ON TABLE services IS
      'HTTP services of a project, each made from an OpenAPI document. Writer: the API.';
    COMMENT ON COLUMN services.version IS 'The version that the document names.';
    COMMENT ON COLUMN services.connection_kinds IS 'The kinds of connections that meet the security schemes of the document.';
    COMMENT ON COLUMN services.bytes IS 'The size of the actions as JSON text, which counts in the bytes of the project.';

    CREATE INDEX services_of ON services (project_id, name);

    CREATE TABLE service_actions (
      service_id uuid NOT NULL REFERENCES services (id) ON DELETE CASCADE,
      id text NOT NULL,
      position integer NOT NULL,
      title text NOT NULL,
      description text NOT NULL,
      method text NOT NULL,
      path text NOT NULL,
      server text NOT NULL,
      has_side_effects boolean NOT NULL,
      fields json NOT NULL,
      body json,
      result json,
      documentation_url text,
      PRIMARY KEY (service_id, id)
    );

    COMMENT ON TABLE service_actions IS 'The operations of a service of a project. Writer: the API.';
    COMMENT ON COLUMN service_actions.position IS 'The place of the operation in the document, from 0.';
    COMMENT ON COLUMN service_actions.fields IS 'A JSON Schema that says where each field goes (graph/actions/action.ts).';

    ALTER TABLE workflows ADD COLUMN service_ids text[] NOT NULL DEFAULT '{}';
    COMMENT ON COLUMN workflows.service_ids IS 'The services whose actions \`document\` names.';
    CREATE INDEX workflows_services ON workflows USING gin (service_ids) WHERE archived_at IS NULL`.execute(db);
}
