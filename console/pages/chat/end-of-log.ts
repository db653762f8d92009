import { useCallback, useRef, useState, type RefCallback } from 'react';

/** A person who is so near to the end reads what comes. */
const NEAR_PX = 48;

interface EndOfLog {
  ref: RefCallback<HTMLElement>;
  isAtEnd: boolean;
  goToEnd: () => void;
  /** What a person reads stays in its place when something is put above it next. */
  holdPlace: () => void;
}

/** Follows the end of a log that grows, as long as the person is there. Whoever reads above is not moved. */
export function useEndOfLog(): EndOfLog {
  const element = useRef<HTMLElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const follows = useRef(true);
  /** The distance from the end, while the place is held. */
  const held = useRef<number>(undefined);
  const ref = useCallback((log: HTMLElement | null) => {
    element.current = log;
    const content = log?.firstElementChild;
    if (log === null || !content) return undefined;
    const settle = (): void => {
      if (follows.current) log.scrollTop = log.scrollHeight;
      else if (held.current !== undefined) {
        log.scrollTop = log.scrollHeight - held.current;
        held.current = undefined;
      }
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
      const log = element.current;
      if (log === null) return;
      follows.current = false;
      held.current = log.scrollHeight - log.scrollTop;
    },
  };
}
