// Types of the API's response bodies that the tests in this folder share.

export type FieldErrors = Record<string, string[]>;

export interface Detail {
  detail: string;
  code: string;
}

export interface Page<T> {
  page: number;
  size: number;
  total: number;
  items: T[];
}

export interface Project {
  id: number;
  name: string;
  total_spent: Record<string, string>;
  spending_limit: { amount: string; period: 'day' | 'month' | 'total' } | null;
  spent_in_period: Record<string, string>;
  attached_provider_keys: unknown[];
  created_at: string;
  updated_at: string;
  webhook_url: string;
  is_webhook_enabled: boolean;
  can_edit: boolean;
  role: string;
}

export interface Workflow {
  id: number;
  project: number;
  title: string;
  data: Record<string, unknown>;
  sort_id: number;
  [field: string]: unknown;
}

export const NOT_FOUND: Detail = { detail: 'Not found.', code: 'not_found' };
