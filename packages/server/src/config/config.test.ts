import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

describe('readConfig', () => {
  it('lists what is wrong with settings of all subjects at once, and shows no secret', () => {
    const read = readConfig({
      HOST: 'not a host',
      DATABASE_URL: 'mysql://user:hush@host',
      MILLRACE_ADMIN_TOKEN: 'hush',
      MILLRACE_RATE_LIMIT: 'maybe',
      MILLRACE_ROLES: 'api,cook',
      MILLRACE_BLOBS: 's3://bucket?endpoint=ftp://host',
    })
    const problems = read.ok ? [] : read.problems
    expect(problems).toEqual([
      'HOST must be a host name or an address, not "not a host".',
      'MILLRACE_RATE_LIMIT must be on or off, not "maybe".',
      'DATABASE_URL must begin with postgres:// or postgresql://.',
      'MILLRACE_ROLES may name api, worker, agent; it has "cook".',
      'MILLRACE_ADMIN_TOKEN must be 20 to 255 printable characters without spaces.',
      'MILLRACE_BLOBS must have an http or https address as its endpoint.',
    ])
  })

  it('takes an empty variable for an absent one, and returns what nobody can change', () => {
    const read = readConfig({ PORT: ' ', MILLRACE_URL: 'https://ci.example.com//' })
    expect(read).toMatchObject({ ok: true, config: { port: 3000, url: 'https://ci.example.com' } })
    expect(read.ok && Object.isFrozen(read.config)).toBe(true)
  })
})

describe('MILLRACE_ARTIFACT_PART_MIB', () => {
  const partBytes = (env: Record<string, string>) => {
    const read = readConfig(env)
    return read.ok ? read.config.artifactPartBytes : read.problems
  }

  it('is 64, and at least twice the smallest part of S3', () => {
    expect(partBytes({})).toBe(64 * 1024 ** 2)
    expect(partBytes({ MILLRACE_ARTIFACT_PART_MIB: '10' })).toBe(10 * 1024 ** 2)
    expect(partBytes({ MILLRACE_ARTIFACT_PART_MIB: '9' })).toEqual([expect.stringContaining('10 to 5120')])
  })
})

describe('MILLRACE_DATABASE_DIRECT_URL', () => {
  const database = (env: Record<string, string>) => {
    const read = readConfig(env)
    return read.ok ? read.config.database : read.problems
  }

  it('leads past the pooler of DATABASE_URL, and means nothing without one', () => {
    const pooled = { DATABASE_URL: 'postgres://pooler/ci' }
    expect(database(pooled)).toEqual({ kind: 'url', url: 'postgres://pooler/ci', directUrl: null })
    const direct = { MILLRACE_DATABASE_DIRECT_URL: 'postgresql://database/ci' }
    expect(database({ ...pooled, ...direct })).toMatchObject({ directUrl: 'postgresql://database/ci' })
    expect(database(direct)).toEqual([expect.stringContaining('needs DATABASE_URL')])
    expect(database({ ...pooled, MILLRACE_DATABASE_DIRECT_URL: 'mysql://database/ci' })).toEqual([
      expect.stringContaining('must begin with postgres://'),
    ])
  })
})

describe('MILLRACE_HOSTED', () => {
  const hosted = (env: Record<string, string>) => {
    const read = readConfig(env)
    return read.ok ? read.config.hosted : read.problems
  }

  it('if absent turns hosted clusters off, whatever else is set', () => {
    expect(hosted({})).toBeNull()
    expect(hosted({ MILLRACE_HOSTED_CPUS: 'many' })).toBeNull()
  })

  it('names the socket of a container engine', () => {
    expect(hosted({ MILLRACE_HOSTED: 'docker:///var/run/docker.sock', PORT: '4000' })).toMatchObject({
      engine: { kind: 'docker', socketPath: '/var/run/docker.sock' },
      endpoint: 'http://127.0.0.1:4000/v3',
      registry: 'localhost/millrace',
    })
  })

  it('lets containers reach the server, what MILLRACE_HOSTED_ALLOW lists, or the whole machine', () => {
    const allowed = (env: Record<string, string>) => {
      const read = hosted({
        MILLRACE_HOSTED: 'docker:///d.sock',
        MILLRACE_URL: 'https://ci.example.com',
        ...env,
      })
      return read !== null && 'allowed' in read ? read.allowed : read
    }
    expect(allowed({})).toEqual(['ci.example.com:443'])
    const more = {
      MILLRACE_HOSTED_ENDPOINT: 'http://172.17.0.1:3000/v3',
      MILLRACE_HOSTED_ALLOW: '172.17.0.1:22, git.example.com:443',
    }
    const addresses = ['172.17.0.1:3000', 'ci.example.com:443', '172.17.0.1:22', 'git.example.com:443']
    expect(allowed(more)).toEqual(addresses)
    expect(allowed({ MILLRACE_HOSTED_ALLOW: '*' })).toBeNull()
  })

  const onKubernetes = {
    MILLRACE_HOSTED: 'kubernetes:ci',
    MILLRACE_HOSTED_REGISTRY: 'registry.example.com/millrace',
  }

  it('names a namespace of Kubernetes', () => {
    expect(hosted(onKubernetes)).toMatchObject({
      engine: {
        kind: 'kubernetes',
        namespace: 'ci',
        kubeconfig: null,
        snapshotClass: null,
        isNetworkOpen: false,
      },
    })
    const more = {
      KUBECONFIG: '/etc/kube',
      MILLRACE_HOSTED_SNAPSHOT_CLASS: 'csi',
      MILLRACE_HOSTED_OUTBOUND_ALLOW: '10.1.0.0/16',
      MILLRACE_HOSTED_OPEN_NETWORK: 'on',
    }
    expect(hosted({ ...onKubernetes, ...more })).toMatchObject({
      engine: {
        kubeconfig: '/etc/kube',
        snapshotClass: 'csi',
        outboundAllow: ['10.1.0.0/16'],
        isNetworkOpen: true,
      },
    })
  })

  it('needs a registry on Kubernetes', () => {
    expect(hosted({ MILLRACE_HOSTED: 'kubernetes:ci' })).toEqual([
      expect.stringContaining('MILLRACE_HOSTED_REGISTRY must name a registry'),
    ])
  })

  it.each([
    ['MILLRACE_HOSTED_STORAGE_CLASS', 'Upper Case'],
    ['MILLRACE_HOSTED_REGISTRY_SECRET', '../other'],
    ['MILLRACE_HOSTED_OUTBOUND_ALLOW', 'everywhere'],
    ['MILLRACE_HOSTED_BUILDKIT_IMAGE', 'a b'],
  ])('is refused on Kubernetes with a wrong %s', (name, value) => {
    expect(hosted({ ...onKubernetes, [name]: value })).toEqual([expect.stringContaining(name)])
  })

  it.each([
    'docker',
    'docker://',
    'docker://relative.sock',
    'kube',
    'kubernetes:',
    'kubernetes:a/b',
    'podman',
  ])('is refused: %s', (MILLRACE_HOSTED) => {
    expect(hosted({ MILLRACE_HOSTED })).toEqual([expect.stringContaining('MILLRACE_HOSTED must')])
  })

  it.each([
    ['MILLRACE_HOSTED_ENDPOINT', 'ftp://host'],
    ['MILLRACE_HOSTED_REGISTRY', 'Upper Case'],
    ['MILLRACE_HOSTED_BASE_IMAGE', 'a\nRUN b'],
    ['MILLRACE_HOSTED_IMAGE_BUILDS', '0'],
    ['MILLRACE_HOSTED_CACHE_GB', '-1'],
    ['MILLRACE_HOSTED_ALLOW', '10.0.0.5'],
    ['MILLRACE_HOSTED_ALLOW', '*,10.0.0.5:443'],
  ])('is refused with %s=%j', (name, value) => {
    const problems = hosted({ MILLRACE_HOSTED: 'docker:///d.sock', [name]: value })
    expect(problems).toEqual([expect.stringContaining(name)])
  })
})

describe('sites that services are connected to', () => {
  const app = { MILLRACE_CHAT_WORKSPACE_CLIENT_ID: 'id', MILLRACE_CHAT_WORKSPACE_CLIENT_SECRET: 'hush' }
  const read = (env: Record<string, string>) => {
    const outcome = readConfig(env)
    return outcome.ok ? outcome.config : outcome.problems
  }

  it('are off unless the operator names an app', () => {
    expect(read({})).toMatchObject({ oauth: { chat_workspace: null, issue_tracker: null } })
  })

  it('have default addresses, which can be replaced', () => {
    const MILLRACE_CHAT_WORKSPACE_API_URL = 'https://chat.example.com/api/'
    expect(read({ ...app, MILLRACE_CHAT_WORKSPACE_API_URL })).toMatchObject({
      oauth: {
        chat_workspace: {
          clientId: 'id',
          issuer: 'https://slack.com',
          tokenUrl: 'https://slack.com/api/oauth.v2.access',
          apiUrl: 'https://chat.example.com/api',
        },
        issue_tracker: null,
      },
      secrets: { oauth: { chat_workspace: 'hush', issue_tracker: '' } },
    })
  })

  it('need the id of the app and its secret', () => {
    for (const name of Object.keys(app)) {
      expect(read({ [name]: 'x' })).toEqual([expect.stringContaining('set both or none')])
    }
  })

  it.each(['http://chat.example.com', 'ftp://127.0.0.1', 'chat', 'http://127.0.0.1.example.com'])(
    'must have https or be on this machine: %s',
    (url) => {
      const problems = read({ ...app, MILLRACE_CHAT_WORKSPACE_TOKEN_URL: url })
      expect(problems).toEqual([
        expect.stringContaining('MILLRACE_CHAT_WORKSPACE_TOKEN_URL must be an https'),
      ])
    },
  )
})

describe('MILLRACE_METRICS_LISTEN', () => {
  const listen = (env: Record<string, string>) => {
    const read = readConfig(env)
    return read.ok ? read.config.metrics.listen : read.problems
  }

  it('is a port of HOST, or an address and a port; without it there is none', () => {
    expect(listen({})).toBeNull()
    expect(listen({ HOST: '10.0.0.1', MILLRACE_METRICS_LISTEN: '9464' })).toEqual({
      host: '10.0.0.1',
      port: 9464,
    })
    expect(listen({ MILLRACE_METRICS_LISTEN: '0.0.0.0:9464' })).toEqual({ host: '0.0.0.0', port: 9464 })
    expect(listen({ MILLRACE_METRICS_LISTEN: '[::]:9464' })).toEqual({ host: '::', port: 9464 })
  })

  it.each(['http://0.0.0.0:9464', 'localhost', '0.0.0.0:99999', ':9464'])('refuses %s', (given) => {
    expect(listen({ MILLRACE_METRICS_LISTEN: given })).toEqual([
      expect.stringContaining('such as 0.0.0.0:9464'),
    ])
  })
})

describe('MILLRACE_TRACES_ENDPOINT', () => {
  const traces = (env: Record<string, string>) => {
    const read = readConfig(env)
    return read.ok ? read.config.traces : read.problems
  }

  it('is the address of a collector; without it there are no traces', () => {
    expect(traces({})).toBeNull()
    for (const given of ['http://c:4318', 'http://c:4318/', 'http://c:4318/v1/traces']) {
      expect(traces({ MILLRACE_TRACES_ENDPOINT: given })).toMatchObject({
        url: 'http://c:4318/v1/traces',
        sample: 1,
      })
    }
    expect(traces({ MILLRACE_TRACES_ENDPOINT: 'collector:4318' })).toEqual([
      expect.stringContaining('must be an http or https address'),
    ])
  })

  it('may come from the settings of OpenTelemetry, which ours replace', () => {
    const standard = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://o:4318/otlp' }
    expect(traces(standard)).toMatchObject({ url: 'http://o:4318/otlp/v1/traces' })
    const whole = { ...standard, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t:1/own/path' }
    expect(traces(whole)).toMatchObject({ url: 'http://t:1/own/path' })
    expect(traces({ ...whole, MILLRACE_TRACES_ENDPOINT: 'http://m:4318' })).toMatchObject({
      url: 'http://m:4318/v1/traces',
    })
    const named = { OTEL_SERVICE_NAME: 'ci', OTEL_RESOURCE_ATTRIBUTES: 'team=build%20tools,bad' }
    expect(traces({ ...standard, ...named })).toMatchObject({
      resource: { 'service.name': 'ci', team: 'build tools' },
    })
  })

  it('is sampled by a share, and sent with headers that are no part of the settings that are shown', () => {
    const endpoint = { MILLRACE_TRACES_ENDPOINT: 'http://c:4318' }
    expect(traces({ ...endpoint, MILLRACE_TRACES_SAMPLE: '0.25' })).toMatchObject({ sample: 0.25 })
    for (const MILLRACE_TRACES_SAMPLE of ['2', '-1', 'half']) {
      expect(traces({ ...endpoint, MILLRACE_TRACES_SAMPLE })).toEqual([
        expect.stringContaining('from 0 to 1'),
      ])
    }
    const read = readConfig({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, b = c=d' })
    expect(read.ok && read.config.secrets.traceHeaders).toEqual({ authorization: 'Bearer x', b: 'c=d' })
  })
})
