import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { recentBuildEntries, recentPipelineEntries } from './recent.ts'

const pipeline = '/v2/organizations/{org}/pipelines/{pipeline}'

it('offers what this tab has shown of the organization, the last one first', () => {
  const client = new QueryClient()
  const show = (name: string, params: object, data: object, updatedAt: number) =>
    client.setQueryData([`GET ${name}`, params, {}], data, { updatedAt })
  show(pipeline, { org: 'acme', pipeline: 'app' }, { slug: 'app', name: 'App' }, 1)
  show(pipeline, { org: 'acme', pipeline: 'site' }, { slug: 'site', name: 'Site' }, 2)
  show(pipeline, { org: 'other', pipeline: 'app' }, { slug: 'app', name: 'Another' }, 3)
  const build = { org: 'acme', pipeline: 'app', build: 7 }
  show(`${pipeline}/builds/{build}`, build, { number: 7, message: 'Fix it\n\nwell' }, 4)
  expect(recentPipelineEntries(client, 'acme')).toMatchObject([
    { title: 'Site', to: '/acme/site' },
    { title: 'App', to: '/acme/app' },
  ])
  expect(recentBuildEntries(client, 'acme')).toMatchObject([
    { title: 'app #7 Fix it', to: '/acme/app/builds/7' },
  ])
  expect(recentPipelineEntries(client, null)).toEqual([])
})
