import { expect, it } from 'vitest'
import { lastCrumbs } from './crumbs.ts'

const settings = { name: 'Settings', to: '/acme/app/settings', isBetween: true } as const
const app = { name: 'App', to: '/acme/app' }

it('leads on a phone from the page to what it belongs to', () => {
  const namesOf = (crumbs: Parameters<typeof lastCrumbs>[0]) => lastCrumbs(crumbs).map(({ name }) => name)
  expect(namesOf([app, settings, { name: 'Steps', to: '/acme/app/settings/steps' }])).toEqual([
    'App',
    'Steps',
  ])
  expect(namesOf([app, settings])).toEqual(['App', 'Settings'])
  expect(namesOf([app])).toEqual(['App'])
  const agent = ['Cluster', 'queue', 'agent'].map((name) => ({ name, to: `/${name}` }))
  expect(namesOf(agent)).toEqual(['queue', 'agent'])
})
