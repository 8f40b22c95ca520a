// The defaults of a document for all of its command steps.

import { findEntry } from '../source.ts'
import type { SourceMap } from '../source.ts'
import { readCache } from './attributes/cache.ts'
import type { CacheSetting } from './attributes/cache.ts'
import { readCheckout } from './attributes/checkout.ts'
import type { Report } from './report.ts'
import { readSecrets } from './attributes/secrets.ts'
import { readTargeting } from './attributes/targeting.ts'
import type { Checkout } from './types.ts'
import { MAX_INTEGER, MIN_INTEGER, readInteger, readText } from './values.ts'

export interface Defaults {
  agents: readonly string[]
  priority: number
  image: string | null
  secrets: Readonly<Record<string, string>>
  cache: CacheSetting | false | null
  checkout: Checkout | null
}

export const PRIORITY = { min: MIN_INTEGER, max: MAX_INTEGER }

export const NO_DEFAULTS: Defaults = {
  agents: [],
  priority: 0,
  image: null,
  secrets: {},
  cache: null,
  checkout: null,
}

export function readDefaults(root: SourceMap, report: Report): Defaults {
  return {
    agents: readTargeting(findEntry(root, 'agents'), report),
    priority: readInteger(findEntry(root, 'priority'), PRIORITY, report) ?? 0,
    image: readText(findEntry(root, 'image'), report),
    secrets: readSecrets(findEntry(root, 'secrets'), report),
    cache: readCache(findEntry(root, 'cache'), report),
    checkout: readCheckout(findEntry(root, 'checkout'), 'document', report),
  }
}
