import type { Started } from '@millrace/server/main.ts'
import type { Command } from 'commander'
import { command, print, type Output } from '../command.ts'

export const up = (): Command =>
  command(
    'up',
    'Run everything: a database unless DATABASE_URL names one, the API, the background worker, a local agent.',
    'up',
  ).action(async (options: Output) => {
    const { up: run } = await import('@millrace/server/main.ts')
    await run(process.env, {
      started: (started) => print(options, { ...started, pid: process.pid }, welcome(started)),
      say: (sentence) => console.error(sentence),
    })
  })

function welcome({ url, roles, database, first }: Started): string {
  if (!roles.includes('api')) return `Millrace works in the background. PostgreSQL ${database}.`
  const lines = [
    `Millrace runs at ${url}`,
    '',
    ...(first === null ? [] : firstLines(url, first)),
    `  API reference   ${url}/docs`,
    '                  Press Authorize there and paste the token: the page then calls the API for you.',
    `  PostgreSQL      ${database}`,
    '',
    'In a terminal the token goes into a header:',
    '',
    first === null
      ? `  curl -H "Authorization: Bearer $TOKEN" ${url}/v2/organizations`
      : `  curl -H "Authorization: Bearer ${first.token}" ${url}/v2/organizations/${first.organization}/clusters`,
    '',
    ...(first === null ? laterLines : []),
    'Ctrl-C stops it.',
  ]
  return lines.join('\n')
}

const firstLines = (url: string, first: NonNullable<Started['first']>) => [
  `Open ${url}/sign-in?code=${first.sign_in_code}`,
  'The link signs you in as the administrator: once, and within 24 hours.',
  '',
  `  Token           ${first.token}`,
  '                  Keep it: it may do everything, and is shown this once.',
  `  Organization    ${first.organization}`,
  `  Administrator   ${first.administrator}`,
]

const laterLines = [
  'The token was shown at the first start. For another one:',
  '',
  '  npx millrace token create --user admin@localhost --scope all',
  '',
  'For a link that signs a person in to the web interface:',
  '',
  '  npx millrace user sign-in-link admin@localhost',
  '',
]
