import type { ByteLease } from '../../memory/byte-budget.js';
import type { AppContext, AppState } from '../http/app-state.js';
import type { Admitted, DeclaredContext, RouteResult } from '../http/route.js';

/** A step adds a field to the state of the request, or refuses the request. */
export type Step = (ctx: RequestContext, next: () => Promise<unknown>) => Promise<void>;

export type RequestContext = AppContext & { state: RequestState };

/** What the steps of api/dispatch/dispatch.ts add, in their order. */
export interface RequestState extends AppState {
  /** What the handler gets because its route declares it. */
  given: DeclaredContext;
  peerAddress: string;
  admitted?: Admitted<unknown>;
  tenant: string;
  memory: ByteLease;
  result: RouteResult;
}
