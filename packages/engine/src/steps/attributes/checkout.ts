import type { SourceEntry } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import { checkSecretKey } from './secrets.ts'
import type { Checkout } from '../types.ts'
import {
  isNull,
  readBoolean,
  readChoice,
  MAX_INTEGER,
  readInteger,
  readName,
  readText,
  readTexts,
  wrong,
} from '../values.ts'

const NAMES = [
  'skip',
  'submodules',
  'lfs',
  'depth',
  'flags',
  'sparse',
  'ssh_secret',
  'commit_verification',
] as const
const FLAG_NAMES = ['clone', 'fetch', 'checkout', 'clean'] as const

export function readCheckout(
  entry: SourceEntry | undefined,
  level: 'document' | 'step',
  report: Report,
): Checkout | null {
  if (!entry || isNull(entry.value)) return null
  if (entry.value.kind !== 'map') {
    wrong(entry, 'a map such as `skip: true`', report)
    return null
  }
  const attributes = readAttributes(entry.value, { owner: '`checkout`', names: NAMES }, report)
  const sshSecret = attributes.get('ssh_secret')
  if (sshSecret && level === 'document') {
    report.problem(sshSecret, '`ssh_secret` can only be set on a step')
  }
  const secretKey = readName(sshSecret, report)
  if (sshSecret && secretKey !== null) checkSecretKey(sshSecret, secretKey, report)
  return {
    skip: readBoolean(attributes.get('skip'), report),
    submodules: readBoolean(attributes.get('submodules'), report),
    lfs: readBoolean(attributes.get('lfs'), report),
    depth: readInteger(attributes.get('depth'), { min: 1, max: MAX_INTEGER }, report),
    flags: readFlags(attributes.get('flags'), report),
    sparsePaths: readSparsePaths(attributes.get('sparse'), report),
    sshSecret: secretKey,
    commitVerification: readChoice(attributes.get('commit_verification'), ['strict', 'off', 'warn'], report),
  }
}

/** Key by key the step wins; a list of sparse paths is replaced whole. */
export function mergeCheckout(fallback: Checkout | null, own: Checkout | null): Checkout | null {
  if (!fallback || !own) return own ?? fallback
  return {
    skip: own.skip ?? fallback.skip,
    submodules: own.submodules ?? fallback.submodules,
    lfs: own.lfs ?? fallback.lfs,
    depth: own.depth ?? fallback.depth,
    flags: { ...fallback.flags, ...own.flags },
    sparsePaths: own.sparsePaths ?? fallback.sparsePaths,
    sshSecret: own.sshSecret,
    commitVerification: own.commitVerification ?? fallback.commitVerification,
  }
}

function readFlags(entry: SourceEntry | undefined, report: Report): Checkout['flags'] {
  if (!entry) return {}
  if (entry.value.kind !== 'map') {
    wrong(entry, `a map with ${FLAG_NAMES.join(', ')}`, report)
    return {}
  }
  const attributes = readAttributes(entry.value, { owner: '`checkout.flags`', names: FLAG_NAMES }, report)
  const flags: Partial<Record<(typeof FLAG_NAMES)[number], string>> = {}
  for (const name of FLAG_NAMES) {
    const value = readText(attributes.get(name), report)
    if (value !== null) flags[name] = value
  }
  return flags
}

function readSparsePaths(entry: SourceEntry | undefined, report: Report): string[] | null {
  if (!entry) return null
  if (entry.value.kind !== 'map') {
    wrong(entry, 'a map with `paths`', report)
    return null
  }
  const attributes = readAttributes(entry.value, { owner: '`checkout.sparse`', names: ['paths'] }, report)
  return readTexts(attributes.get('paths'), report)
}
