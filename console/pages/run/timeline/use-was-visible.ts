import { useEffect, useState, type RefObject } from 'react';

/** Whether the element has been in sight since it is there. */
export function useWasVisible(element: RefObject<Element | null>): boolean {
  const [wasVisible, setWasVisible] = useState(false);
  useEffect(() => {
    const target = element.current;
    if (target === null || wasVisible) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setWasVisible(true);
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, [element, wasVisible]);
  return wasVisible;
}
