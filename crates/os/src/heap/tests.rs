use super::*;

struct Exercise;

impl Visitor for Exercise {
    type Output = ();

    fn visit<H: Heap>(self, heap: H) {
        let mut block = Block::new(heap, 100).unwrap();
        block.fill(100, 7);
        let grown = block.resized(100_000).unwrap();
        assert!(grown.is_filled(100, 7));
        drop(grown);
        let zeroed = Block::zeroed(heap, 5000).unwrap();
        assert!(zeroed.is_filled(5000, 0));
        for alignment in [8, 64, 4096] {
            let mut aligned = Block::<H, true>::aligned(heap, alignment, 100).unwrap();
            assert_eq!(aligned.address() % alignment, 0);
            aligned.fill(100, 1);
            assert!(aligned.is_filled(100, 1));
        }
        let mut number = Block::new(heap, 8).unwrap();
        number.set_number(41);
        number.increment();
        assert_eq!(number.number(), 42);
        if !H::ONE_THREAD {
            std::thread::spawn(move || drop(number)).join().unwrap();
        }
    }
}

#[test]
fn every_heap_of_this_platform_works() {
    for kind in KINDS.iter().filter(|kind| kind.unsupported.is_none()) {
        with(kind.name, Exercise).unwrap();
    }
}
