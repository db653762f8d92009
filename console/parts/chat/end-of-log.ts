import { useCallback, useRef, useState, type RefCallback } from 'react';

/** Within this distance from the end, in pixels, the log follows new messages. */
const NEAR_PX = 48;

interface EndOfLog {
  /** `ref` of the log, whose first child must be its content. */
  watch: RefCallback<HTMLElement>;
  isAtEnd: boolean;
  goToEnd: () => void;
  /** Remembers the position of the first message before older messages are inserted above it. */
  holdPlace: (firstPage: number | undefined) => void;
  /** Restores that position after `firstPage` has changed. */
  settlePlace: (firstPage: number | undefined) => void;
}

/** Keeps a growing log scrolled to its end while the person is there. Does not move people who read further up. */
export function useEndOfLog(): EndOfLog {
  const element = useRef<HTMLElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const follows = useRef(true);
  const held = useRef<{ shown: Element; top: number; firstPage: number | undefined }>(undefined);
  const watch = useCallback((log: HTMLElement | null) => {
    element.current = log;
    const content = log?.firstElementChild;
    if (log === null || !content) return undefined;
    const settle = (): void => {
      if (follows.current) log.scrollTop = log.scrollHeight;
    };
    let lastTop = 0;
    const look = (): void => {
      const isNear = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
      // The content may have grown since the last scroll to the end, so only scrolling up counts as leaving the end.
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
    watch,
    isAtEnd,
    goToEnd() {
      follows.current = true;
      element.current?.scrollTo({ top: element.current.scrollHeight });
    },
    holdPlace(firstPage) {
      const shown = element.current?.querySelector('.chat-question, .chat-answer');
      if (!shown) return;
      follows.current = false;
      held.current = { shown, top: shown.getBoundingClientRect().top, firstPage };
    },
    settlePlace(firstPage) {
      if (held.current === undefined || held.current.firstPage === firstPage || element.current === null) return;
      element.current.scrollTop += held.current.shown.getBoundingClientRect().top - held.current.top;
      held.current = undefined;
    },
  };
}
