import type { ByteLease } from '../../memory/byte-budget.js';
import type { AppContext, AppState } from '../http/app-state.js';
import type { Admitted, DeclaredContext, RouteResult } from '../http/route.js';

export type Step = (ctx: RequestContext, next: () => Promise<unknown>) => Promise<void>;

export type RequestContext = AppContext & { state: RequestState };

/** The fields that the steps of api/dispatch/dispatch.ts add, in the order of the steps. */
export interface RequestState extends AppState {
  handlerInput: DeclaredContext;
  peerAddress: string;
  admitted?: Admitted<unknown>;
  tenant: string;
  memory: ByteLease;
  result: RouteResult;
}
