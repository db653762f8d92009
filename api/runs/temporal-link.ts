import type { AppDeps } from '../deps.js';

/** To the run in the Temporal UI, where `TEMPORAL_UI_URL` says where that is. A refused run (`Draft`) is not there. */
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
