import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { Link } from 'wouter';
import './button.css';
import { classNames } from './class-names.js';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary` marks the main action. `quiet` has no frame, for toolbars and rows. */
  variant?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** The action is in progress: sets `aria-busy`, ignores clicks and keeps the focus. */
  isBusy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ variant = 'plain', isBusy = false, className, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={classNames('button', `button-${variant}`, className)}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || undefined}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    />
  );
}

interface ButtonLinkProps {
  to: string;
  variant?: 'plain' | 'primary' | 'quiet';
  children: ReactNode;
}

/** A link within the console that looks like a button. */
export function ButtonLink({ to, variant = 'plain', children }: ButtonLinkProps) {
  return (
    <Link href={to} className={classNames('button', `button-${variant}`)}>
      {children}
    </Link>
  );
}
