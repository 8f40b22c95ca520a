import { describe, expect, it } from 'vitest'
import { choosePipelines, isFailing, listTags, readSearch } from './choose.ts'

const pipeline = (name: string, favorite = false) => ({
  id: name,
  name,
  slug: name.toLowerCase(),
  tags: [`tag-${name}`],
  favorite,
})
const build = (state: 'passed' | 'failed' | 'running') => ({
  number: 1,
  state,
  blocked: false,
  seconds: 1,
  created_at: 0,
  message: null,
  branch: 'main',
})

describe('the list of pipelines', () => {
  it('offers the tags that most pipelines have, and the chosen one', () => {
    const all = [['b', 'a'], ['b'], ['c']].map((tags) => ({ tags }))
    expect(listTags(all, undefined, 2)).toEqual(['b', 'a'])
    expect(listTags(all, 'c', 2)).toEqual(['b', 'a', 'c'])
    expect(listTags(all, 'a', 2)).toEqual(['b', 'a'])
  })

  it('has favourites first, then names, numbers by their value', () => {
    const rows = choosePipelines(
      [pipeline('b10'), pipeline('b9'), pipeline('A'), pipeline('z', true)],
      new Map(),
      {},
    )
    expect(rows.map(({ name }) => name)).toEqual(['z', 'A', 'b9', 'b10'])
  })

  it('is filtered by words, favourites and failing ones', () => {
    const all = [pipeline('Web app'), pipeline('Api', true)]
    const trends = new Map([['Web app', { builds: [build('failed'), build('running')] }]])
    const names = (search: object) =>
      choosePipelines(all, trends, readSearch({ ...search })).map(({ name }) => name)
    expect(names({ q: 'app web' })).toEqual(['Web app'])
    expect(names({ q: 'tag-api' })).toEqual(['Api'])
    expect(names({ tag: 'tag-Api' })).toEqual(['Api'])
    expect(names({ tag: 'tag' })).toEqual([])
    expect(names({ show: 'favorites' })).toEqual(['Api'])
    expect(names({ show: 'failing' })).toEqual(['Web app'])
  })

  it('is ordered by the last build or by speed when somebody asks for it', () => {
    const all = [pipeline('Fast', true), pipeline('Never'), pipeline('Slow')]
    const trends = new Map([
      ['Fast', { builds: [{ ...build('passed'), created_at: 20 }], median_seconds: 4 }],
      ['Slow', { builds: [{ ...build('passed'), created_at: 10 }], median_seconds: 90 }],
    ])
    const names = (search: object) =>
      choosePipelines(all, trends, readSearch({ ...search })).map(({ name }) => name)
    expect(names({ sort: 'last' })).toEqual(['Fast', 'Slow', 'Never'])
    expect(names({ sort: 'speed' })).toEqual(['Slow', 'Fast', 'Never'])
    expect(names({ sort: 'size' })).toEqual(['Fast', 'Never', 'Slow'])
  })

  it('counts a pipeline as failing by its last verdict', () => {
    expect(isFailing({ builds: [build('failed'), build('passed')] })).toBe(false)
    expect(isFailing({ builds: [build('passed'), build('failed'), build('running')] })).toBe(true)
    expect(isFailing(undefined)).toBe(false)
  })
})
