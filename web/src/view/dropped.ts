// Files out of a drop: single ones, and every `.silt` inside dropped folders.

/** A limit on files of one drop, so that a whole disk dropped by mistake ends. */
const FILE_COUNT_MAX = 2000;
const SEGMENT_NAME = /\.silt$/i;

/** The files in a drop; folders are searched for segments. */
export async function droppedFiles(transfer: DataTransfer): Promise<File[]> {
  // Entries must be taken before the first await: the transfer is empty afterwards.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry());
  const plain = [...transfer.files];
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found: File[] = [];
  for (const entry of entries) if (entry !== null) await collect(entry, found, true);
  return found;
}

async function collect(entry: FileSystemEntry, found: File[], named: boolean): Promise<void> {
  if (found.length >= FILE_COUNT_MAX) return;
  if (isFile(entry)) {
    if (!named && !SEGMENT_NAME.test(entry.name)) return;
    found.push(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)));
    return;
  }
  if (!isDirectory(entry)) return;
  const reader = entry.createReader();
  for (;;) {
    // Each call gives some entries more; none means that is all.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return;
    for (const child of some) await collect(child, found, false);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
