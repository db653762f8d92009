import { useEffect, useRef, useState, type ReactNode } from 'react';

interface ScrollFrameProps {
  className: string;
  children: ReactNode;
}

/** A part that may be wider than there is room: then it takes the focus, so that the arrow keys scroll it. */
export function ScrollFrame({ className, children }: ScrollFrameProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isScrollable, setIsScrollable] = useState(false);
  useEffect(() => {
    const element = frame.current!;
    const observer = new ResizeObserver(() => setIsScrollable(element.scrollWidth > element.clientWidth));
    for (const each of [element, ...element.children]) observer.observe(each);
    return () => observer.disconnect();
  }, []);
  return (
    <div className={className} ref={frame} {...(isScrollable ? { tabIndex: 0 } : {})}>
      {children}
    </div>
  );
}
