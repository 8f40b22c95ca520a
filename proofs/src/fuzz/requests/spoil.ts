// Makes parts of a request wrong: one at a time, or so that no client would send it.
import { encode, type Draft } from './draft.ts'
import { hostileBytes, hostileJson, hostileRequest, oddSegment } from './hostile.ts'
import { mutate, oddTexts, oddValue, pick } from './values.ts'

/** Makes one part of the request wrong. */
export function spoil(draft: Draft): void {
  const { attempt, dice } = draft
  const spoilers = attempt.body === null ? withoutBody : withBody
  attempt.changes.push(pick(dice, spoilers)(draft))
}

/** Makes a request that no client sends. */
export function ruin(draft: Draft): void {
  const { attempt, dice } = draft
  attempt.hasOwnIds = false
  attempt.changes.push(pick(dice, ruins)(draft))
}

/** Returns what it has changed. */
type Change = (draft: Draft) => string

/** Placeholders whose value is itself the right to read or write. */
const capabilities = new Set(['webhook', 'badge', 'code'])

const theirToken = "another tenant's token"

const spoilPath: Change = (draft) => {
  const { dice, scene, attempt, places } = draft
  const names = Object.keys(places)
  attempt.hasOwnIds = false
  if (names.length === 0 || dice.happens(0.1)) {
    const { path } = attempt
    attempt.path = pick(dice, [`${path}/`, `/${path}`, `${path}%00`, `${path}#x`, `${path};a=b`])
    return 'the path'
  }
  const name = pick(dice, names)
  const isByUuid = name === 'build' && attempt.operation.surface === 'agent'
  // With a token of theirs, a request for rows of theirs would be allowed.
  const isTheirs = attempt.changes.includes(theirToken)
  const isAllowed = isTheirs || capabilities.has(name)
  const foreign = isAllowed ? undefined : scene.theirs.ids[isByUuid ? 'build_uuid' : name]
  if (foreign !== undefined && dice.happens(0.35)) {
    places[name] = foreign
    draft.setPath()
    return `another tenant's ${name}`
  }
  const [path = '', ...query] = attempt.path.split('?')
  const segment = encode(places[name] ?? '')
  const odd = oddSegment(dice)
  attempt.path = [path.replace(segment === '' ? '//' : segment, () => odd), ...query].join('?')
  return `an odd ${name}`
}

const spoilQuery: Change = ({ dice, scene, attempt }) => {
  const known = attempt.operation.query.map(({ name }) => name)
  const name = known.length > 0 && dice.happens(0.8) ? pick(dice, known) : pick(dice, usualQuery)
  const values = [
    ...oddTexts,
    ...oddCursors,
    ...scene.harvest.cursors.map((cursor) => changed(cursor, dice.next())),
  ]
  const value = pick(dice, values)
  const written = dice.happens(0.1) ? value.replace(/[^\x21-\x7e]/g, '%FF') : encode(value)
  const shape = pick(dice, [
    `${name}=${written}`,
    `${name}[]=${written}`,
    `${name}[a]=${written}`,
    `${name}=${written}&${name}=b`,
    name,
  ])
  attempt.path += `${attempt.path.includes('?') ? '&' : '?'}${shape}`
  return `the query ${name}`
}

/** The same cursor with one character changed, or cut. */
function changed(cursor: string, share: number): string {
  const at = Math.floor(share * cursor.length)
  return share < 0.2 ? cursor.slice(0, at) : `${cursor.slice(0, at)}A${cursor.slice(at + 1)}`
}

const ownTokens = ['member', 'reader', 'expired', 'revoked', 'session', 'job', 'registration', 'suite']
const schemes = ['Bearer', 'Token', 'Basic', 'bearer', '']

const spoilToken: Change = ({ dice, scene, attempt, secrets }) => {
  const { credential, path } = attempt.operation
  // A token of theirs may change their own rows, so it goes only where the URL names ours.
  const namesOurs = attempt.hasOwnIds && /\{(org|job|stack)\}/.test(path)
  const kind = pick(dice, [...ownTokens, 'none', 'odd', ...(namesOurs ? ['theirs', 'theirs'] : [])])
  const usual = credential === 'user' ? 'Bearer' : 'Token'
  const scheme = dice.happens(0.8) ? usual : pick(dice, schemes)
  const { headers } = attempt
  delete headers['cookie']
  delete headers['authorization']
  if (kind === 'odd') headers['authorization'] = headerText(pick(dice, oddTexts))
  else if (kind === 'theirs')
    headers['authorization'] = `${usual} ${scene.theirs.secret(credential === 'user' ? 'admin' : credential)}`
  else if (kind !== 'none') headers['authorization'] = `${scheme} ${secrets[kind] ?? ''}`
  return kind === 'theirs' ? theirToken : `the token of ${kind}`
}

const spoilHeader: Change = ({ dice, scene, attempt }) => {
  const [name, values] = pick(dice, oddHeaders)
  const { etags } = scene.harvest
  const known = name === 'if-none-match' ? etags : []
  // The client itself fails on some hosts.
  const more = name === 'host' ? [] : dice.happens(0.1) ? oddTexts : longRuns
  attempt.headers[name] = headerText(pick(dice, [...values, ...known, ...more]))
  return `the header ${name}`
}

const spoilBody: Change = (draft) => {
  const { dice, attempt, value } = draft
  if (value === undefined) {
    attempt.body = hostileBytes(dice, attempt.body ?? Buffer.alloc(0))
    return 'the bytes of the body'
  }
  if (dice.happens(0.15)) {
    draft.setBody(withForeignIds(draft))
    return "another tenant's ids in the body"
  }
  if (dice.happens(0.12)) {
    attempt.body = hostileJson(dice, attempt.body ?? Buffer.from('{}'))
    return 'the JSON of the body'
  }
  const properties = Object.keys(attempt.operation.body?.['properties'] ?? {})
  if (properties.length > 0 && typeof value === 'object' && dice.happens(0.4)) {
    const name = pick(dice, properties)
    draft.setBody({ ...value, [name]: oddValue(dice) })
    return `the field ${name}`
  }
  draft.setBody(mutate(dice, value))
  return 'a part of the body'
}

function withForeignIds({ scene: { world, theirs }, value }: Draft): unknown {
  const foreign = new Map(Object.entries(world.ids).map(([name, id]) => [id, theirs.id(name)]))
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return foreign.get(part) ?? part
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(
      Object.entries(part).map(([key, item]) => [foreign.get(key) ?? key, walk(item)]),
    )
  }
  return walk(value)
}

const withoutBody: readonly Change[] = [spoilPath, spoilQuery, spoilToken, spoilHeader]
/** The body is spoiled more often than the rest. */
const withBody: readonly Change[] = [...withoutBody, spoilBody, spoilBody, spoilBody, spoilBody]

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
const encodings = ['gzip', 'br', 'deflate', 'identity', 'gzip, gzip', 'x']

const ruins: readonly Change[] = [
  ({ dice, attempt }) => {
    attempt.raw = hostileRequest(dice, attempt)
    return 'broken HTTP'
  },
  ({ dice, attempt }) => {
    attempt.method = pick(dice, methods)
    if (attempt.method === 'GET' || attempt.method === 'HEAD') attempt.body = null
    return `the method ${attempt.method}`
  },
  ({ dice, attempt }) => {
    attempt.body = hostileJson(dice, attempt.body ?? Buffer.from('{}'))
    attempt.headers['content-type'] = pick(dice, oddTypes)
    return 'the JSON and the type of the body'
  },
  ({ dice, attempt }) => {
    attempt.body = hostileBytes(dice, attempt.body ?? Buffer.from('{}'))
    attempt.headers['content-encoding'] = pick(dice, encodings)
    return 'the encoding of the body'
  },
  ({ dice, attempt }) => {
    const [path = ''] = attempt.path.split('?')
    const parts = path.split('/')
    parts[dice.between(1, parts.length - 1)] = oddSegment(dice)
    attempt.path = parts.join('/') || '/'
    return 'a part of the path'
  },
]

/** What a header may hold. */
const headerText = (text: string) => text.toWellFormed().replace(/[^\x20-\x7e\x80-\xff]/g, '?')

const usualQuery = [
  'page',
  'per_page',
  'after',
  'before',
  'state',
  'branch',
  'q',
  'x',
  '__proto__',
  'constructor[prototype]',
]

const oddCursors = [
  '0',
  '-1',
  '1.5',
  '99999999999',
  'eyJhIjoxfQ',
  'eyJhIjoxfQ==',
  'AAAA.BBBB',
  '1:1:',
  '0/0',
  ':',
  'a'.repeat(5000),
  Buffer.from('{"at":"infinity","id":"x"}').toString('base64url'),
  '1:1:1',
  '18446744073709551616:1:',
]

const oddTypes = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'application/merge-patch+json',
  'application/xml',
  '',
  ';',
  'a/b/c',
]

const oddHeaders: ReadonlyArray<readonly [string, readonly string[]]> = [
  ['content-type', oddTypes],
  ['idempotency-key', ['one', 'two', 'k'.repeat(255), 'k'.repeat(256), '', 'ümlaut', '{}']],
  ['if-none-match', ['*', '"x"', 'W/"x"', '"', 'a'.repeat(3000)]],
  ['if-modified-since', ['yesterday', 'Thu, 01 Jan 1970 00:00:00 GMT']],
  ['accept', ['text/html', '*/*;q=0', 'application/xml', 'text/event-stream', ',,,', 'a'.repeat(2000)]],
  ['accept-encoding', ['gzip', 'br', 'gzip;q=0', '*;q=0', 'identity;q=0, *;q=0']],
  [
    'range',
    ['bytes=0-0', 'bytes=-1', 'bytes=5-1', 'bytes=0-,1-', 'lines=1-2', 'bytes=99999999999999999999-'],
  ],
  ['x-request-id', ['', 'a b', 'x'.repeat(65), '../../..']],
  ['x-forwarded-for', ['10.0.0.1', 'unknown', '::', '1.2.3.4, 5.6.7.8']],
  ['host', ['evil.example.com', '[::1]', 'a'.repeat(300), '-']],
  ['origin', ['https://evil.example.com', 'null', '::']],
  ['cookie', ['millrace_session=x', `millrace_session=${'a'.repeat(40)}`, ';;;', '=', 'a=b; a=b']],
  ['user-agent', ['x'.repeat(3000), '', 'curl/8']],
  ['last-event-id', ['0', '-1', 'x'.repeat(1000), '1:1:', 'NaN']],
  ['x-millrace-page', ['1', '2']],
  ['content-encoding', ['gzip', 'identity', 'br']],
  ['x-github-event', ['push', 'pull_request', 'issue_comment', 'x']],
  ['prefer', ['respond-async', 'wait=-1']],
]

/** Almost as long as all headers together may be. */
const longRuns = [`x${' '.repeat(12_000)}y`, `${'a,'.repeat(5000)}b`]
