// Bodies that are not JSON, or come with headers of their own.
import { gzipSync } from 'node:zlib'
import type { Dice } from '../../dice.ts'
import { boundary, uploadForm } from '../world/files.ts'
import { pick } from './values.ts'
import { pushedLines, webhooks } from './webhooks.ts'
import type { Ids } from '../world/world.ts'

type SpecialBody = { headers: Record<string, string> } & ({ bytes: Buffer } | { value: unknown })

/** null: this time a body like that of other operations. */
type MakeBody = (dice: Dice, ids: Ids, secrets: Record<string, string>) => SpecialBody | null

/** By the id of the operation. */
export const specialBodies: Readonly<Record<string, MakeBody>> = {
  'POST /deliver/{webhook}': (dice) => {
    if (dice.happens(0.1))
      return { bytes: Buffer.from(pushedLines), headers: { 'content-type': 'text/plain' } }
    const { headers, payload } = pick(dice, webhooks)
    return { value: payload, headers }
  },
  'POST /deliver/trigger/{address}': () => ({
    value: { ref: 'refs/heads/main', action: 'published' },
    headers: {},
  }),
  'POST /v1/uploads': (dice) => (dice.happens(0.7) ? null : testForm(pick(dice, junitTexts))),
  'POST /v3/jobs/{job}/chunks': (dice) => ({
    bytes: gzipSync(pick(dice, logTexts)),
    headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
  }),
  'POST /v3/jobs/{job}/test_results': (dice) => ({
    // Most of the others are refused, and each operation is to succeed now and then.
    bytes: gzipSync(dice.happens(0.4) ? report : pick(dice, junitTexts)),
    headers: { 'content-type': 'application/xml', 'content-encoding': 'gzip' },
  }),
  'POST /agentedge.v1.AgentEdgeService/StreamPings': (_dice, ids) => {
    const id = Buffer.from(ids['agent'] ?? '')
    const message = Buffer.concat([Buffer.from([0x0a, id.length]), id])
    return {
      bytes: Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]),
      headers: { 'content-type': 'application/grpc', te: 'trailers' },
    }
  },
  'POST /v3/uploads': (_dice, ids, secrets) => ({
    bytes: uploadForm(ids['artifact'] ?? '', secrets['upload'] ?? ''),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }),
  'PUT /v3/uploads/{artifact}/parts/{part}': () => ({
    bytes: Buffer.alloc(1024, 'x'),
    headers: { 'content-type': 'application/octet-stream' },
  }),
}

const logTexts = [
  '--- hello\n+++ world\n\u001b[31mred\u001b[0m\r\nprogress\rdone\n',
  '\u001b_bk;t=1700000000000\u0007line\n',
  '\u001b[9999;9999H\u001b[2J\u001b[99999999999A\u001b]1339;url="javascript:x";content="a"\u0007\n',
  '\u001b]1338;url="data:image/png;base64,AAAA"\u0007'.repeat(50),
  `${'x'.repeat(200_000)}\n`,
  '\n'.repeat(20_000),
  '😀\u202e\0\ufffd\n',
] // prettier-ignore

function testForm(xml: string): SpecialBody {
  const fields = { format: 'junit', 'run_env[key]': 'fuzz', 'run_env[branch]': 'main', data: xml }
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    bytes: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}

const suite = (cases: string) => `<testsuites><testsuite name="a">${cases}</testsuite></testsuites>`

const report = suite('<testcase classname="Basket" name="adds an item" time="0.5"/>')

const junitTexts = [
  report,
  suite('<testcase name="a"><failure message="no">at line 1</failure></testcase>'),
  suite('<testcase name="a"><skipped/></testcase>'.repeat(2000)),
  suite('<testcase name="&#0;&#xD800;&#x110000;&nope;"/>'),
  suite('<testcase name="a" name="b" time="NaN"><error/></testcase>'),
  suite('<testcase name="a"><![CDATA[ ]]></testcase><!-- '),
  `<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${suite('<testcase name="&b;"/>')}`,
  '<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>',
  '<testsuite>'.repeat(5000),
  '<',
  '',
]
