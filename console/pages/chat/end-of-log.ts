import { useCallback, useRef, useState, type RefCallback } from 'react';

/** A person who is so near to the end reads what comes. */
const NEAR_PX = 48;

interface EndOfLog {
  ref: RefCallback<HTMLElement>;
  isAtEnd: boolean;
  goToEnd: () => void;
  /** Notes where the first of what is shown stands, before something is put above it. */
  holdPlace: () => void;
  /** Brings it back there. */
  settlePlace: () => void;
}

/** Follows the end of a log that grows, as long as the person is there. Whoever reads above is not moved. */
export function useEndOfLog(): EndOfLog {
  const element = useRef<HTMLElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const follows = useRef(true);
  const held = useRef<{ shown: Element; top: number }>(undefined);
  const ref = useCallback((log: HTMLElement | null) => {
    element.current = log;
    const content = log?.firstElementChild;
    if (log === null || !content) return undefined;
    const settle = (): void => {
      if (follows.current) log.scrollTop = log.scrollHeight;
    };
    let lastTop = 0;
    const look = (): void => {
      const isNear = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
      // The content may have grown since the log was moved to its end: only who moves up leaves the end.
      if (isNear) follows.current = true;
      else if (log.scrollTop < lastTop) follows.current = false;
      lastTop = log.scrollTop;
      setIsAtEnd(follows.current);
    };
    const sizes = new ResizeObserver(settle);
    sizes.observe(content);
    sizes.observe(log);
    log.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      log.removeEventListener('scroll', look);
      element.current = null;
    };
  }, []);
  return {
    ref,
    isAtEnd,
    goToEnd() {
      follows.current = true;
      element.current?.scrollTo({ top: element.current.scrollHeight });
    },
    holdPlace() {
      const shown = element.current?.querySelector('.chat-question, .chat-answer');
      if (!shown) return;
      follows.current = false;
      held.current = { shown, top: shown.getBoundingClientRect().top };
    },
    settlePlace() {
      if (held.current !== undefined && element.current !== null) {
        element.current.scrollTop += held.current.shown.getBoundingClientRect().top - held.current.top;
      }
      held.current = undefined;
    },
  };
}
