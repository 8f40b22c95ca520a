// Documents that are refused before they run, and the words of the refusals.
import { buildClientSchema, getIntrospectionQuery, parse, type IntrospectionQuery } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline, type TestOrganization } from '../../test/builders.ts'
import { graphql, graphqlData } from '../../test/graphql/client.ts'
import { pipelineDocuments } from '../../test/graphql/terraform-documents.ts'
import { aBuild } from '../../test/runs.ts'
import { checkShape, limits } from './limits.ts'
import { addressesOf } from './addresses.ts'
import { mostCalls, type Rest } from './rest.ts'
import { run } from './run.ts'
import { buildSubset } from './subset.ts'

const app = useApp()

let org: TestOrganization
let token: string
beforeAll(async () => {
  org = await anOrganization(app)
  token = (await anAdmin(app, org)).token
})

const ask = (query: string, variables: Record<string, unknown> = {}) => graphql(app, token, query, variables)

const send = (options: Parameters<typeof app.request>[2]) =>
  app.request('POST', '/v1/graphql', { token, ...options })

describe('POST /v1/graphql', () => {
  it('answers 401 without a token, and counts no cookie', async () => {
    const body = { query: '{ __typename }' }
    const answer = await app.request('POST', '/v1/graphql', {
      body,
      headers: { cookie: 'millrace_session=x' },
    })
    expect(answer.status).toBe(401)
    expect(answer.body.message).toMatch(/^Authentication required/)
  })

  it('answers 405 to other methods', async () => {
    const answer = await app.request('GET', '/v1/graphql?query={__typename}', { token })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  it.each([
    ['no body', {}],
    ['no query', { body: { variables: {} } }],
    ['a batch', { text: '[{"query":"{ __typename }"}]', headers: { 'content-type': 'application/json' } }],
    ['variables that are a list', { body: { query: '{ __typename }', variables: [] } }],
    ['an operation name that is no text', { body: { query: '{ __typename }', operationName: 1 } }],
    ['what is no GraphQL', { body: { query: 'select 1' } }],
  ])('answers 400 to %s', async (_, options) => {
    const answer = await send(options)
    // Without a body there is no type either.
    expect([400, 415]).toContain(answer.status)
    expect(answer.body.message).toEqual(expect.any(String))
  })

  it('answers 415 to another type than JSON', async () => {
    const text = '{"query":"{ __typename }"}'
    const answers = await Promise.all(
      ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'].map((type) =>
        send({ text, headers: { 'content-type': type } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([415, 415, 415])
  })

  it('sends the rate limits of REST', async () => {
    const answer = await send({ body: { query: '{ __typename }' } })
    expect(answer.headers.get('ratelimit-user-limit')).toEqual(expect.any(String))
  })

  it('runs the operation that is named', async () => {
    const query = 'query A { a: __typename } query B { b: __typename }'
    expect((await graphql(app, token, query, {}, { operationName: 'B' })).data).toEqual({ b: 'Query' })
    expect((await graphql(app, token, query)).messages[0]).toMatch(/several operations/)
    expect((await graphql(app, token, query, {}, { operationName: 'C' })).messages[0]).toMatch(/no operation/)
  })

  it('shows its schema', async () => {
    const query = getIntrospectionQuery()
    const data = (await graphqlData(app, token, query)) as unknown as IntrospectionQuery
    const schema = buildClientSchema(data)
    expect(schema.getType('Pipeline')).toBeDefined()
  })
})

describe('what the subset does not have', () => {
  const hint = / Millrace has a subset of this schema\. docs\/graphql\.md lists it/

  it.each([
    ['a field', '{ viewer { id } }', /^Cannot query field "viewer" on type "Query"\./],
    [
      'an argument',
      '{ organization(id: "x") { id } }',
      /^Unknown argument "id" on field "Query\.organization"/,
    ],
    ['a type', '{ node(id: "x") { ... on RegistryToken { id } } }', /^Unknown type "RegistryToken"/],
    [
      'a field of an input',
      'mutation { pipelineUpdate(input: { id: "x", nextBuildNumber: 5 }) { clientMutationId } }',
      /^Field "nextBuildNumber" is not defined by type "PipelineUpdateInput"/,
    ],
    [
      'a value of an enum',
      '{ organization(slug: "x") { jobs(state: [ASLEEP]) { count } } }',
      /^Value "ASLEEP" does not exist in "JobStates" enum/,
    ],
  ])('is refused by name: %s', async (_, query, message) => {
    const answer = await ask(query)
    expect(answer.status).toBe(200)
    expect(answer.data).toEqual({})
    expect(answer.messages[0]).toMatch(message)
    expect(answer.messages[0]).toMatch(hint)
  })

  it('is refused by name in variables', async () => {
    const answer = await ask(pipelineDocuments.update, { input: { id: 'x', nextBuildNumber: 5 } })
    expect(answer.messages[0]).toMatch(/"nextBuildNumber" is not defined by type "PipelineUpdateInput"/)
    expect(answer.messages[0]).toMatch(hint)
  })
})

describe('a document', () => {
  const nested = (depth: number) =>
    `{ organization(slug: "x") ${'{ cluster(id: "x") { organization '.repeat(depth)}{ id }${' } }'.repeat(depth)} }`

  it.each([
    ['too long', `{ __typename #${'x'.repeat(limits.documentBytes)}\n}`, 400, /larger than/],
    ['of too many tokens', `{ ${'__typename '.repeat(limits.tokens)} }`, 400, /token/i],
    ['too deep', nested(10), 200, /more than 15 levels/],
    [
      'with too many aliases',
      `{ organization(slug: "x") { ${Array.from({ length: limits.aliases + 1 }, (_, i) => `a${i}: id`).join(' ')} } }`,
      200,
      /more than 40 aliases/,
    ],
    [
      'with too many fields of one name',
      `{ organization(slug: "x") { ${'id '.repeat(limits.fieldsOfOneName + 1)} } }`,
      200,
      /more than 40 fields of one name/,
    ],
    [
      'with too many objects of one name',
      `{ organization(slug: "x") { ${'cluster(id: "x") { id } '.repeat(limits.objectsOfOneName + 1)} } }`,
      200,
      /more than 20 objects of one name/,
    ],
    [
      'with too many fragments',
      `{ node(id: "x") { ${'... on Cluster { __typename } '.repeat(limits.fragments + 1)} } }`,
      200,
      /more than 80 fragments/,
    ],
    [
      'with too many root fields',
      `{ ${Array.from({ length: limits.rootFields + 1 }, (_, i) => `a${i}: __typename`).join(' ')} }`,
      200,
      /more than 10 root fields/,
    ],
  ])('is refused when it is %s', async (_, query, status, message) => {
    const answer = await ask(query)
    expect(answer.status).toBe(status)
    expect(answer.messages[0]).toMatch(message)
  })

  it('is measured once for each fragment, however often it is spread', () => {
    const fragments = Array.from(
      { length: 39 },
      (_, i) => `fragment f${i} on Query { ...f${i + 1} ...f${i + 1} }`,
    )
    const text = `{ ...f0 } ${fragments.join(' ')} fragment f39 on Query { __typename }`
    expect(() => checkShape(parse(text))).toThrow(/root fields/)
  })

  it('whose fragments spread themselves is refused', async () => {
    const answer = await ask('{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }')
    expect(answer.messages[0]).toMatch(/Cannot spread fragment/)
  })

  it('is refused when `first` multiplies to too many objects, also by a variable', async () => {
    const query = /* GraphQL */ `
      query Large($org: ID!, $first: Int) {
        organization(slug: $org) {
          pipelines(first: $first) {
            edges {
              node {
                builds(first: $first) {
                  edges {
                    node {
                      id
                      pipeline {
                        id
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    `
    const answer = await ask(query, { org: org.slug, first: 500 })
    expect(answer.messages[0]).toMatch(/^The query may return \d+ objects, more than 50000\. Lower `first`/)
    expect((await ask(query, { org: org.slug, first: 5 })).messages).toEqual([])
    expect((await ask(query, { org: org.slug })).messages).toEqual([])
  })

  it('is refused with `first` out of range and with a made-up cursor', async () => {
    const query = /* GraphQL */ `
      query Page($org: ID!, $first: Int, $after: String) {
        organization(slug: $org) {
          clusters(first: $first, after: $after) {
            count
          }
        }
      }
    `
    const messages = await Promise.all(
      [{ first: 501 }, { first: -1 }, { after: 'x' }, { after: btoa('row-0') }].map(
        async (page) => (await ask(query, { org: org.slug, ...page })).messages[0],
      ),
    )
    expect(messages).toEqual([
      '`first` must be from 0 to 500.',
      '`first` must be from 0 to 500.',
      '`after` is no cursor. Take the endCursor of an answer.',
      '`after` is no cursor. Take the endCursor of an answer.',
    ])
  })

  it('is stopped when it needs too many requests', async () => {
    const own = await anOrganization(app)
    const { token: admin } = await anAdmin(app, own)
    const pipelines = Array.from({ length: 101 }, () => aPipeline(app, own, 'steps: []'))
    await Promise.all(pipelines)
    const query = /* GraphQL */ `
      query Many($org: ID!) {
        organization(slug: $org) {
          pipelines(first: 101) {
            edges {
              node {
                a: schedules(first: 1) {
                  count
                }
                b: schedules(first: 2) {
                  count
                }
                c: schedules(first: 3) {
                  count
                }
              }
            }
          }
        }
      }
    `
    const answer = await graphql(app, admin, query, { org: own.slug })
    expect(answer.messages[0]).toMatch(new RegExp(`needs more than ${mostCalls} requests`))
  })
})

describe('hostile variables', () => {
  it('are refused for their number and depth', async () => {
    const query = 'query ($slug: ID!) { organization(slug: $slug) { id } }'
    const wide = await send({ body: { query, variables: { list: Array.from({ length: 10_001 }, () => 1) } } })
    expect([wide.status, wide.body.message]).toEqual([400, 'The request body holds more than 10000 values.'])
    const text = `{"query":"{ __typename }","variables":{"x":${'['.repeat(100)}${']'.repeat(100)}}}`
    const deep = await send({ text, headers: { 'content-type': 'application/json' } })
    expect(deep.status).toBe(400)
  })

  it('of other types are refused, with a message of bounded length', async () => {
    const query = 'query ($slug: ID!) { organization(slug: $slug) { id } }'
    for (const slug of [{ a: 1 }, [], true, null, { long: 'x'.repeat(100_000) }]) {
      const answer = await ask(query, { slug })
      expect(answer.status).toBe(200)
      expect(answer.messages[0]).toMatch(/^Variable "\$slug"/)
      expect(answer.messages[0]?.length).toBeLessThan(1200)
    }
  })

  it('that name prototypes and paths find nothing', async () => {
    const query = 'query ($slug: ID!) { organization(slug: $slug) { id } }'
    for (const slug of ['__proto__', '../../default', 'a/b', '%00', '\u{1F680}', 'x'.repeat(5000)]) {
      expect(await ask(query, { slug })).toMatchObject({ data: { organization: null }, messages: [] })
    }
  })
})

describe('a list of builds with their jobs', () => {
  it('is one request of REST', async () => {
    // The minute of its requests begins with the query.
    const own = await anOrganization(app)
    const { token: admin } = await anAdmin(app, own)
    const pipeline = await aPipeline(app, own, 'steps: [{command: one}, {command: two}]')
    for (let i = 0; i < 3; i++) await aBuild(app, own, pipeline)
    const query = /* GraphQL */ `
      query Builds($slug: ID!) {
        pipeline(slug: $slug) {
          builds(first: 100) {
            edges {
              node {
                number
                jobs(first: 100) {
                  count
                  edges {
                    node {
                      ... on JobTypeCommand {
                        uuid
                        command
                        state
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    `
    const before = await app.ctx.limits.peek(own.id)
    const data = await graphqlData(app, admin, query, { slug: `${own.slug}/${pipeline.slug}` })
    const after = await app.ctx.limits.peek(own.id)
    const edges = data.pipeline?.builds?.edges as unknown as Array<{ node: { jobs: { count: number } } }>
    expect(edges.map(({ node }) => node.jobs.count)).toEqual([2, 2, 2])
    // The pipeline, and its builds with jobs.
    expect(after.current - before.current).toBe(2)
  })
})

describe('a query that goes on', () => {
  const query = '{ organization(slug: "x") { id } }'
  const request = { query, operationName: null, variables: {} }
  const silent = new Promise<never>(() => {})
  const rest: Rest = { get: () => silent, find: () => silent, page: () => silent, write: () => silent }

  it('ends when its time is up or its client is gone', async () => {
    const context = { rest, addresses: addressesOf(app.ctx.db, org.id) }
    const ended = new AbortController()
    const answer = run(buildSubset(), request, context, ended.signal)
    ended.abort()
    const { result } = await answer
    expect(result.errors?.map(({ message }) => message)).toEqual([
      'The query took longer than 30 seconds. Ask for fewer rows with `first`.',
    ])
  })
})
