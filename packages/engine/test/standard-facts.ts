import type { StandardFacts } from '../src/environment.ts'

export function someStandardFacts(): StandardFacts {
  return {
    organization: { id: 'o1', slug: 'acme' },
    pipeline: {
      id: 'p1',
      slug: 'app',
      name: 'App',
      defaultBranch: 'main',
      repository: 'git@example.com:acme/app.git',
      provider: 'github',
      teams: ['web', 'ops'],
    },
    cluster: { id: 'c1', name: 'Default' },
    build: {
      id: 'b1',
      number: 7,
      url: 'https://ci.example.com/acme/app/builds/7',
      branch: 'main',
      commit: 'HEAD',
      message: 'Hello',
      tag: null,
      source: 'api',
      author: null,
      creator: { name: 'Ada', email: 'ada@example.com', teams: ['web'] },
      pullRequest: null,
      rebuiltFrom: null,
      triggeredFrom: null,
      mergeQueue: null,
      cleanCheckout: false,
    },
    step: { id: 's1', key: 'test' },
    group: null,
    job: { id: 'j1', retriesCount: 0, timeoutMinutes: null },
    agent: null,
    access: null,
    unblocker: null,
  }
}
