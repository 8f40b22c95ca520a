import { join } from 'node:path'
import type { Command } from 'commander'
import { command, print, type Output } from '../command.ts'
import { loadProgram, type LocalAgents, type Started } from '../program.ts'

export const up = (): Command =>
  command(
    'up',
    'Run everything in one process: a database unless DATABASE_URL names one, the API, the background worker, a local agent.',
    'up',
  ).action(async (options: Output) => {
    const { up: run } = await loadProgram()
    await run(process.env, {
      started: (started) => print(options, { ...started, pid: process.pid }, welcome(started)),
      say: (sentence) => console.error(sentence),
      startAgents: startLocalAgents,
    })
  })

async function startLocalAgents({
  endpoint,
  token,
  count,
  dataDir,
}: LocalAgents): Promise<() => Promise<unknown>> {
  const { startAgents } = await import('@millrace/agent/pool.ts')
  const pool = startAgents({
    endpoint,
    token,
    spawn: count,
    name: '%hostname-%spawn',
    buildPath: join(dataDir, 'builds'),
    cancelGraceSeconds: 2,
  })
  await pool.connected
  return () => pool.stop('force')
}

function welcome({ url, roles, database, first }: Started): string {
  if (!roles.includes('api')) return `Millrace works in the background. PostgreSQL ${database}.`
  const token = first?.token ?? '$TOKEN'
  const lines = [
    `Millrace runs at ${url}`,
    '',
    `  API reference   ${url}/docs`,
    `  PostgreSQL      ${database}`,
    ...(first === null ? [] : firstLines(first)),
    '',
    'Ask it something:',
    '',
    `  curl -H "Authorization: Bearer ${token}" ${url}/v2/organizations${first === null ? '' : `/${first.organization}/clusters`}`,
    '',
    ...(first === null ? [`A new token: npx millrace token create --help`, ''] : []),
    'Ctrl-C stops it.',
  ]
  return lines.join('\n')
}

const firstLines = (first: NonNullable<Started['first']>) => [
  `  Organization    ${first.organization}`,
  `  Administrator   ${first.administrator}`,
  `  Token           ${first.token}`,
  '                  (all scopes; shown this once)',
]
