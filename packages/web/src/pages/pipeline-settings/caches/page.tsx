import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { ConfirmDialog } from '../../../parts/dialogs/ConfirmDialog.tsx'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { Table } from '../../../parts/Table.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../../parts/toasts/toasts.ts'
import { formatSize } from '../../build/tabs/sizes.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import type { PipelineAddress } from '../queries.ts'
import { describeHitRate } from './hit-rate.ts'
import { cachesQuery, cacheUsesQuery, deleteCache, deleteCaches, type Cache } from './queries.ts'

export function CachesPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/caches' })
  return (
    <PipelineSettings
      address={address}
      name="caches"
      subtitle="What steps have saved with cache on agents that are not hosted. Those that nobody uses go by themselves."
    >
      {({ may }) => (
        <>
          <HitRate address={address} />
          <Caches address={address} mayDelete={may.build} />
        </>
      )}
    </PipelineSettings>
  )
}

function HitRate({ address }: { address: PipelineAddress }) {
  const { data = [], dataUpdatedAt } = useQuery(cacheUsesQuery(address))
  const rate = describeHitRate(data, dataUpdatedAt)
  return rate === null ? null : <p>{rate}</p>
}

function Caches({ address, mayDelete }: { address: PipelineAddress; mayDelete: boolean }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(cachesQuery(address))
  const [isEmptying, setEmptying] = useState(false)
  const rows = list.data?.pages.flatMap((page) => page.rows)
  const reload = () => queryClient.invalidateQueries({ queryKey: cachesQuery(address).queryKey })
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="No caches yet">
        A step with <code>cache</code> saves the paths that it names, and later jobs begin with them.
      </Empty>
    )
  const remove = async ({ id, name, branch }: Cache) => {
    try {
      await deleteCache(address, id)
      showToast(`The cache ${name} of ${branch} is deleted.`)
    } catch (error) {
      showFailure(error)
    }
    await reload()
  }
  const total = rows.reduce((sum, { stored_bytes: bytes }) => sum + bytes, 0)
  return (
    <>
      <Table
        label="Caches"
        rows={rows}
        columns={[
          {
            head: 'Name',
            titleOf: ({ name, paths }) => `${name}: ${paths.join(', ')}`,
            render: ({ name }) => name,
          },
          { head: 'Branch', titleOf: ({ branch }) => branch, render: ({ branch }) => branch },
          { head: 'Paths', look: 'aside', render: ({ paths }) => <code>{paths.join(' ')}</code> },
          { head: 'Platform', look: 'aside', render: ({ platform }) => platform },
          {
            head: 'Files',
            look: 'number',
            render: ({ file_count: count }) => count.toLocaleString(),
          },
          {
            head: 'Size',
            look: 'number',
            titleOf: ({ size_bytes: size }) => `${formatSize(size)} before compression`,
            render: ({ stored_bytes: size }) => formatSize(size),
          },
          { head: 'Saved', look: 'aside', render: ({ saved_at: at }) => <Time at={at} /> },
          { head: 'Used', look: 'muted', render: ({ used_at: at }) => <Time at={at} /> },
        ]}
        {...(mayDelete
          ? {
              renderAction: (cache: Cache) => (
                <Button
                  isWrite
                  aria-label={`Delete ${cache.name} of ${cache.branch}`}
                  onClick={() => void remove(cache)}
                >
                  Delete
                </Button>
              ),
            }
          : {})}
      />
      <ShowMore list={list} />
      <p className="muted">
        {formatSize(total)} together. Caches share what is equal in them, so they take less in the store.
      </p>
      {mayDelete && (
        <div>
          <Button isWrite kind="danger" icon="trash" onClick={() => setEmptying(true)}>
            Delete all…
          </Button>
        </div>
      )}
      {isEmptying && (
        <ConfirmDialog
          title="Delete all caches?"
          action="Delete all caches"
          keep="Keep them"
          onConfirm={async () => {
            await deleteCaches(address)
            await reload()
            showToast('All caches are deleted.')
          }}
          onClose={() => setEmptying(false)}
        >
          <p>The next jobs begin without them and take longer, until they have saved new ones.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
