import type { Pair } from '../../pairs.ts'
import type { BuildOptions } from '../find-build.ts'

export interface CreateOptions extends BuildOptions {
  branch?: string
  commit?: string
  message?: string
  env: readonly Pair[]
  metaData: readonly Pair[]
  author?: string
  cleanCheckout?: true
  ignoreBranchFilters?: true
  watch?: true
  preflight?: true
  keepGoing?: true
  remote?: string
}

/** The fields of the request that have the same meaning in a preflight. */
export function commonBody(options: CreateOptions): Record<string, unknown> {
  return {
    env: Object.fromEntries(options.env),
    meta_data: Object.fromEntries(options.metaData),
    ...(options.author === undefined ? {} : { author: readAuthor(options.author) }),
    ...(options.cleanCheckout ? { clean_checkout: true } : {}),
    ...(options.ignoreBranchFilters ? { ignore_pipeline_branch_filters: true } : {}),
  }
}

/** `Name <email>`, or either of them. */
export function readAuthor(text: string): { name: string | null; email: string | null } {
  const [, name = '', email] = /^\s*(.*?)\s*<([^<>]+)>\s*$/.exec(text) ?? []
  if (email !== undefined) return { name: name === '' ? null : name, email }
  return text.includes('@') ? { name: null, email: text.trim() } : { name: text.trim(), email: null }
}
