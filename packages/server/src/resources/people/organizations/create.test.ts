import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { slices } from '../../../app.ts'
import { createOrganization } from './create.ts'

const app = useApp()
const operator = { kind: 'operator', command: 'test' } as const
const create = (slug: string) => createOrganization(app.db, operator, { slug, name: 'Acme' })

const firstWords = Object.values(slices)
  .flat()
  .map(({ url }) => url.split('/')[1] ?? '')
const others = [
  'sign-in',
  'sign-out',
  'organizations',
  'oauth',
  'docs',
  'assets',
  'uploads',
  'healthz',
  'readyz',
  'mcp',
  'metrics',
]

describe('a new organization', () => {
  it.each([...new Set([...firstWords, ...others, 'v1', 'v3'])].filter((word) => word !== ''))(
    'may not be called %s, the first word of another address',
    async (slug) => {
      await expect(create(slug)).rejects.toThrow(/beginning of another address|must be lower-case/)
    },
  )

  it('may contain such a word', async () => {
    expect(await create('docs-team')).toMatchObject({ slug: 'docs-team' })
    expect(await create('version2')).toMatchObject({ slug: 'version2' })
  })
})
