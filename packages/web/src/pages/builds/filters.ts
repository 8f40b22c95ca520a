// The filters of a list of builds, as its address holds them.
export interface BuildFilters {
  state?: string
  branch?: string
  /** `me`, or the id of a user. */
  creator?: string
  commit?: string
}

export const states = [
  'running',
  'scheduled',
  'failing',
  'failed',
  'passed',
  'blocked',
  'canceled',
  'skipped',
] as const

export function readFilters(search: Record<string, unknown>): BuildFilters {
  const text = (name: keyof BuildFilters) => {
    const value = search[name]
    const given = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
    return given === '' ? {} : { [name]: given.slice(0, 200) }
  }
  return { ...text('state'), ...text('branch'), ...text('creator'), ...text('commit') }
}

export const hasFilters = (filters: BuildFilters): boolean => Object.keys(filters).length > 0

/** The query of the API. */
export const toQuery = (filters: BuildFilters, userId: string | undefined) => {
  const creator = filters.creator === 'me' ? userId : filters.creator
  return {
    per_page: 50,
    exclude_jobs: true,
    exclude_pipeline: true,
    ...(filters.state === undefined ? {} : { 'state[]': [filters.state] }),
    ...(filters.branch === undefined ? {} : { 'branch[]': [filters.branch] }),
    ...(filters.commit === undefined ? {} : { 'commit[]': [filters.commit] }),
    ...(creator === undefined ? {} : { creator }),
  }
}
