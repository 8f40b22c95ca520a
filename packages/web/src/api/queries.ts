// Operations as queries of TanStack Query. The key of a query is the operation with its input.
import { infiniteQueryOptions, keepPreviousData, QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiFailure, call, callPage, type Input, type Operation } from './call.ts'

type Get = Extract<Operation, `GET ${string}`>

const noParameters: Record<string, string> = {}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 10 * 60_000,
      networkMode: 'always',
      // A refusal stays one; the network and the server recover.
      retry: (failures, error) =>
        failures < 3 && (!(error instanceof ApiFailure) || error.status === 0 || error.status >= 500),
      retryDelay: (attempt) => Math.min(1000 * 2 ** attempt, 10_000) * (0.5 + Math.random() / 2),
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

export const keyOf = <Name extends Operation>(name: Name, input?: Pick<Input<Name>, 'params' | 'query'>) =>
  input === undefined ? ([name] as const) : ([name, input.params, input.query ?? {}] as const)

export const query = <Name extends Get>(name: Name, input: Pick<Input<Name>, 'params' | 'query'>) =>
  queryOptions({
    queryKey: keyOf(name, input),
    queryFn: ({ signal }) => call(name, { ...input, signal }),
  })

/** A list whose further pages are loaded one after the other. */
export const listQuery = <Name extends Get>(name: Name, input: Pick<Input<Name>, 'params' | 'query'>) =>
  infiniteQueryOptions({
    queryKey: [...keyOf(name, input), 'pages'],
    queryFn: ({ signal, pageParam }) =>
      callPage(name, { ...input, query: { ...input.query, ...pageParam }, signal }),
    initialPageParam: noParameters,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  })
