import { InvalidArgumentError, Option, type Command } from 'commander'
import { clientCommand, readCount } from '../client/command.ts'
import type { InsightsOptions } from '../client/insights/show.ts'
import { collect, notBlank } from '../command.ts'

const SORTS = [
  'cost',
  'seconds',
  'jobs',
  'failures',
  'retries',
  'wait_p50',
  'wait_p95',
  'run_p50',
  'run_p95',
] as const

export const insights = (): Command =>
  clientCommand(
    'insights',
    'Show how long jobs waited and ran, how often they failed and what they cost.',
    'insights --group-by step --period 7d --pipeline web',
  )
    .addOption(
      new Option('--group-by <what>', 'one row for each of these')
        .choices(['queue', 'pipeline', 'team', 'creator', 'step'])
        .default('pipeline'),
    )
    .addOption(
      new Option('--period <period>', 'until now').choices(['1h', '24h', '7d', '30d']).default('24h'),
    )
    .addOption(new Option('--sort <by>', 'what is highest comes first').choices(SORTS).default('cost'))
    .option(
      '-p, --pipeline <slug>',
      'only jobs of this pipeline; repeat it for several',
      collectPipelines,
      [],
    )
    .option('--limit <count>', 'at most so many, up to 100', readLimit, 20)
    .addOption(new Option('--csv', 'print CSV, with all groups').conflicts(['json', 'limit']))
    .addOption(
      new Option('--slower', 'list the steps that took longer than usual in the last 7 days').conflicts([
        'groupBy',
        'period',
        'sort',
        'pipeline',
        'csv',
      ]),
    )
    .action(async ({ slower, ...options }: InsightsOptions & { slower?: true }) => {
      if (slower) {
        const { showSlowerSteps } = await import('../client/insights/slower.ts')
        await showSlowerSteps(options)
        return
      }
      const { showInsights } = await import('../client/insights/show.ts')
      await showInsights(options)
    })

const collectPipelines = (slug: string, earlier: readonly string[]): string[] =>
  collect(notBlank(slug), earlier)

function readLimit(text: string): number {
  const limit = readCount(text)
  if (limit <= 100) return limit
  throw new InvalidArgumentError('It must be at most 100; --csv prints all.')
}
