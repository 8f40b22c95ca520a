import { describeNode, findEntry } from '../../source.ts'
import type { SourceEntry, SourceMap } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import { mergeCache, readCache } from '../attributes/cache.ts'
import { mergeCheckout, readCheckout } from '../attributes/checkout.ts'
import { checkMatrixTokens } from '../attributes/command-tokens.ts'
import { readConcurrency } from '../attributes/concurrency.ts'
import { PRIORITY } from '../defaults.ts'
import type { Defaults } from '../defaults.ts'
import {
  EVERY_STEP_ALIASES,
  EVERY_STEP_NAMES,
  readBranches,
  readEveryStep,
} from '../attributes/every-step.ts'
import { checkIfChanged } from '../attributes/if-changed.ts'
import type { Origin } from '../attributes/if-changed.ts'
import { PARALLELISM } from '../job-count.ts'
import { readMatrix } from '../attributes/matrix.ts'
import { splitByKey } from '../attributes/matrix-keys.ts'
import { readNotify } from '../attributes/notify.ts'
import { readPlugins } from '../attributes/plugins.ts'
import type { Report } from '../report.ts'
import { readRetry } from '../attributes/retry.ts'
import { readSecrets } from '../attributes/secrets.ts'
import { readSignature } from '../attributes/signature.ts'
import { readSkip } from '../attributes/skip.ts'
import { readSoftFail } from '../attributes/soft-fail.ts'
import { mergeTargeting, readTargeting } from '../attributes/targeting.ts'
import { readTestResults } from '../attributes/test-results.ts'
import type { CommandStep } from '../types.ts'
import { MAX_INTEGER, readBoolean, readInteger, readPairs, readText, readTexts } from '../values.ts'

const VOCABULARY = {
  owner: 'a command step',
  names: [
    ...EVERY_STEP_NAMES,
    'agents',
    'artifact_paths',
    'branches',
    'cache',
    'cancel_on_build_failing',
    'checkout',
    'command',
    'concurrency',
    'concurrency_group',
    'concurrency_method',
    'env',
    'if_changed',
    'image',
    'matrix',
    'notify',
    'parallelism',
    'plugins',
    'priority',
    'retry',
    'secrets',
    'signature',
    'skip',
    'soft_fail',
    'test_results',
    'timeout_in_minutes',
  ],
  aliases: {
    ...EVERY_STEP_ALIASES,
    agent_query_rules: 'agents',
    artifacts: 'artifact_paths',
    commands: 'command',
    script: 'command',
    timeout: 'timeout_in_minutes',
  },
} as const

/** One step, or one for each combination of the matrix when the key has its values. */
export function readCommand(
  map: SourceMap,
  defaults: Defaults,
  origin: Origin,
  report: Report,
): CommandStep[] {
  const attributes = readAttributes(map, VOCABULARY, report)
  const matrix = readMatrix(attributes.get('matrix'), report)
  const everyStep = readEveryStep(attributes, undefined, report, matrix)
  const parallelism = readInteger(attributes.get('parallelism'), PARALLELISM, report)
  const parallelismEntry = attributes.get('parallelism')
  if (matrix && parallelism !== null && parallelismEntry) {
    report.problem(parallelismEntry, '`matrix` and `parallelism` cannot be combined')
  }
  checkIfChanged(attributes.get('if_changed'), origin, report)
  if (!attributes.get('command') && !attributes.get('plugins')) {
    report.problem(map, 'the step has nothing to run', { expected: '`command` or `plugins`' })
  }
  const testResults = readTestResults(attributes.get('test_results'), report)
  const step: CommandStep = {
    kind: 'command',
    ...everyStep,
    branches: readBranches(attributes, everyStep.condition, report),
    command: readScript(attributes.get('command'), report),
    agents: mergeTargeting(defaults.agents, readTargeting(attributes.get('agents'), report)),
    artifactPaths: readArtifactPaths(attributes.get('artifact_paths'), report),
    cache: mergeCache(defaults.cache, readCache(attributes.get('cache'), report)),
    cancelOnBuildFailing: readBoolean(attributes.get('cancel_on_build_failing'), report) ?? false,
    checkout: mergeCheckout(defaults.checkout, readCheckout(attributes.get('checkout'), 'step', report)),
    concurrency: readConcurrency(attributes, report),
    env: Object.fromEntries(readPairs(attributes.get('env'), report)),
    image: readText(attributes.get('image'), report) ?? defaults.image,
    matrix,
    notify: readNotify(attributes.get('notify'), 'step', report),
    parallelism,
    plugins: readPlugins(attributes.get('plugins'), report),
    priority: readInteger(attributes.get('priority'), PRIORITY, report) ?? defaults.priority,
    retry: readRetry(attributes.get('retry'), report),
    secrets: { ...defaults.secrets, ...readSecrets(attributes.get('secrets'), report) },
    skip: readSkip(attributes.get('skip'), report),
    softFail: readSoftFail(attributes.get('soft_fail'), report) ?? false,
    ...(testResults.length === 0 ? {} : { testResults }),
    timeoutMinutes: readInteger(attributes.get('timeout_in_minutes'), { min: 1, max: MAX_INTEGER }, report),
    signature: readSignature(attributes, report),
  }
  if (!matrix) return [step]
  checkMatrixTokens(step, matrix, findEntry(map, 'matrix') ?? map, report)
  return splitByKey(step, matrix, attributes.get('key') ?? attributes.get('depends_on') ?? map, report)
}

/** A list of commands is one script; null when there is nothing in it. */
function readScript(entry: SourceEntry | undefined, report: Report): string | null {
  if (entry?.value.kind === 'map') {
    report.problem(entry.value, `\`${entry.key}\` cannot be ${describeNode(entry.value)}`, {
      expected: 'a string or a list of strings',
    })
    return null
  }
  const script = (readTexts(entry, report) ?? []).join('\n')
  return script === '' ? null : script
}

function readArtifactPaths(entry: SourceEntry | undefined, report: Report): string | null {
  const paths = (readTexts(entry, report) ?? []).join(';')
  return paths.trim() === '' ? null : paths
}
