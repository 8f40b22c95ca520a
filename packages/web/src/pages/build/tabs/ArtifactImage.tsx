import { queryOptions, useQuery } from '@tanstack/react-query'
import { fetchPicture } from '../../../api/pictures.ts'

interface Props {
  /** Path of its download. */
  download: string
  alt: string
  width?: number
  height?: number
}

const pictureQuery = (download: string) =>
  queryOptions({
    queryKey: ['picture', download],
    queryFn: ({ signal }) => fetchPicture(download.replace(/\/download$/, '/image'), signal),
    staleTime: Infinity,
    retry: false,
  })

/** An artifact as a picture, in a link to its file. What is no picture of a reasonable size stays a link. */
export function ArtifactImage({ download, alt, ...size }: Props) {
  const { data: source } = useQuery(pictureQuery(download))
  return (
    <a href={download} download>
      {source == null ? alt || 'Image' : <img src={source} alt={alt} {...size} />}
    </a>
  )
}
