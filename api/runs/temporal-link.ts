import type { AppDeps } from '../deps.js';

/** Returns the link to the run in the Temporal UI if `TEMPORAL_UI_URL` is set. A refused run (`Draft`) has none. */
export function temporalLink(
  { config, temporal }: AppDeps,
  run: { id?: unknown; status?: unknown },
): { temporal_url?: string } {
  if (config.temporalUiUrl === undefined || run.status === 'Draft') return {};
  const { namespace } = temporal.options;
  return {
    temporal_url: `${config.temporalUiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${String(run.id)}`,
  };
}
