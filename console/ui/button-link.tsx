import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { classNames } from './class-names.js';
import './button.css';

interface ButtonLinkProps {
  to: string;
  variant?: 'plain' | 'primary' | 'quiet';
  children: ReactNode;
}

/** A link of the console that looks like a button. */
export function ButtonLink({ to, variant = 'plain', children }: ButtonLinkProps) {
  return (
    <Link href={to} className={classNames('button', `button-${variant}`)}>
      {children}
    </Link>
  );
}
