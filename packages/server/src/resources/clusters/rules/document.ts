import type { RuleType, RuleValueBody } from './schema.ts'

/** A rule as it was written: its pipelines by the names that the caller gave. */
export const writeDocument = (rule: RuleType, value: RuleValueBody): string => JSON.stringify({ rule, value })
