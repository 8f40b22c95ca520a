import { InvalidArgumentError, type Command } from 'commander'
import { collect, command, print, type Output } from '../../command.ts'

interface Options extends Output {
  user: string
  org: string[]
  scope: string[]
  description: string
  expiresIn?: number
}

export const tokenCreate = (): Command =>
  command(
    'create',
    'Make an API access token and print it, this once.',
    'token create --user ada@example.com --scope read_clusters --scope write_clusters --expires-in 90d',
  )
    .requiredOption('--user <address>', 'whose token it is')
    .option(
      '--org <slug>',
      'an organization it may be used for; repeat it for several (default: all)',
      collect,
      [],
    )
    .requiredOption('--scope <scope>', 'what it may do, or "all"; repeat it for several', collect)
    .option('--description <text>', 'what it is for', '')
    .option('--expires-in <time>', 'such as 30s, 15m, 12h or 90d (default: never)', readSeconds)
    .action(async (options: Options) => {
      const { createToken } = await import('@millrace/server/main.ts')
      const { user, org, scope, description, expiresIn } = options
      const issued = await createToken(process.env, {
        email: user,
        organizationSlugs: org,
        scopes: scope,
        description,
        expiresAt: expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1000).toISOString(),
        allowedIpAddresses: null,
      })
      // Print only the token to stdout, for scripts.
      if (!options.json) console.error(`Token ${issued.id} of ${issued.user}, shown this once:`)
      print(options, issued, issued.token)
    })

const secondsPer: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }
const longestSeconds = 100 * 366 * 86_400

function readSeconds(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d*)([smhd])$/.exec(text) ?? []
  const seconds = Number(count) * (secondsPer[unit] ?? Number.NaN)
  if (seconds <= longestSeconds) return seconds
  throw new InvalidArgumentError('It is a number and s, m, h or d, such as 90d, and at most 100 years.')
}
