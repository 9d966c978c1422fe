//! A part of a file as a stream of bounded pieces, read as fast as the other end takes them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// Bytes of a piece.
const PIECE_BYTES: u64 = 256 << 10;
/// Pieces read ahead.
const PIECES_MAX: usize = 2;

/// The stream.
pub(super) struct FileBody {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl FileBody {
    /// The bytes `begin..end` of `file`.
    pub(super) fn new(file: Arc<File>, begin: u64, end: u64) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES_MAX);
        tokio::task::spawn_blocking(move || {
            let mut at = begin;
            while at < end {
                let count = PIECE_BYTES.min(end - at);
                let mut piece = vec![0; usize::try_from(count).unwrap_or(0)];
                let read = file.read_exact_at(&mut piece, at).map(|()| Bytes::from(piece));
                let failed = read.is_err();
                // Nobody there any more: the other end has hung up.
                if sender.blocking_send(read).is_err() || failed {
                    return;
                }
                at += count;
            }
        });
        Self { pieces, left: end.saturating_sub(begin) }
    }
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.pieces.poll_recv(context).map(|piece| {
            Some(piece?.map(|piece| {
                self.left = self.left.saturating_sub(piece.len() as u64);
                Frame::data(piece)
            }))
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
