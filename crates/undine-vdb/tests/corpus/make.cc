// Makes the files of this folder; see README.md.
#include <fstream>
#include <openvdb/io/Stream.h>
#include <openvdb/openvdb.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointGroup.h>
#include <openvdb/tools/PointIndexGrid.h>

using namespace openvdb;

template <class G>
typename G::Ptr tiles(const char* name, typename G::ValueType background, typename G::ValueType value)
{
    auto grid = G::create(background);
    grid->setName(name);
    grid->tree().addTile(3, Coord(-4096, 0, 8192), value, true);
    grid->tree().addTile(3, Coord(4096, 0, 0), value, false);
    return grid;
}

template <class G>
typename G::Ptr leaf(const char* name, typename G::ValueType background, typename G::ValueType a, typename G::ValueType b)
{
    auto grid = tiles<G>(name, background, a);
    for (int n = 0; n < 100; ++n) grid->tree().setValue(Coord(n % 7, n % 5, n % 8), n % 3 ? a : b);
    grid->tree().setValueOff(Coord(7, 7, 7), b);
    grid->tree().addTile(1, Coord(0, 0, 64), b, true);
    grid->tree().addTile(2, Coord(0, 0, 1024), a, false);
    return grid;
}

void write(const char* file, GridPtrVec grids, uint32_t compression)
{
    MetaMap metadata;
    metadata.insertMeta("frame", Int32Metadata(7));
    io::File out(file);
    out.setCompression(compression);
    out.write(grids, metadata);
}

int main()
{
    initialize();

    GridPtrVec all;
    auto half = tiles<FloatGrid>("half", 0.1f, 1.1f);
    half->setSaveFloatAsHalf(true);
    auto frustum = tiles<FloatGrid>("frustum", 0.0f, 1.0f);
    frustum->setTransform(math::Transform::createFrustumTransform(BBoxd(Vec3d(0), Vec3d(8)), 0.5, 8.0, 1.0));
    auto turned = tiles<Vec3SGrid>("turned", Vec3s(0), Vec3s(1, 2, 3));
    math::Mat4d rows = math::Mat4d::identity();
    rows.setToRotation(Vec3d(1, 2, 3), 0.5);
    rows.postTranslate(Vec3d(4, 5, 6));
    turned->setTransform(math::Transform::createLinearTransform(rows));
    turned->insertMeta("answer", DoubleMetadata(42));
    auto points = tools::PointIndexGrid::create();
    points->setName("points");
    all = {tiles<FloatGrid>("same", 0.5f, 1.0f), tiles<DoubleGrid>("same", 0.5, 1.0), half, points,
        tiles<Int32Grid>("int32", 1, 2), frustum, tiles<Int64Grid>("int64", 1, 2), tiles<BoolGrid>("bool", false, true),
        tiles<MaskGrid>("mask", false, true), turned, tiles<Vec3DGrid>("vec3d", Vec3d(0), Vec3d(1, 2, 3)),
        tiles<Vec3IGrid>("vec3i", Vec3i(0), Vec3i(1, 2, 3)), FloatGrid::create(3.0f)};
    auto shared = Int32Grid::create(StaticPtrCast<Int32Grid>(all[4])->treePtr());
    shared->setName("shared");
    shared->setTransform(math::Transform::createLinearTransform(0.25));
    all.push_back(shared);
    write("tiles.vdb", all, io::COMPRESS_BLOSC | io::COMPRESS_ACTIVE_MASK);

    auto level_set = leaf<FloatGrid>("surface", 0.5f, -0.25f, -0.5f);
    level_set->setGridClass(GRID_LEVEL_SET);
    write("blosc.vdb", {level_set}, io::COMPRESS_BLOSC | io::COMPRESS_ACTIVE_MASK);

    auto vel = leaf<Vec3SGrid>("vel", Vec3s(0), Vec3s(1, 2, 3), Vec3s(0.1f, 5, 6));
    vel->setSaveFloatAsHalf(true);
    write("zip.vdb", {vel}, io::COMPRESS_ZIP | io::COMPRESS_ACTIVE_MASK);

    std::vector<Vec3R> positions;
    std::vector<int> ids;
    for (int n = 0; n < 40; ++n) {
        positions.push_back(Vec3R(n % 7 * 0.9, n % 5 * 1.1, n * 0.3));
        ids.push_back(n);
    }
    auto voxels = math::Transform::createLinearTransform(1.0);
    points::PointAttributeVector<Vec3R> wrapper(positions);
    auto index = tools::createPointIndexGrid<tools::PointIndexGrid>(wrapper, *voxels);
    auto spray = points::createPointDataGrid<points::FixedPointCodec<false>, points::PointDataGrid>(*index, wrapper, *voxels);
    spray->setName("spray");
    points::appendAttribute(spray->tree(), "id", points::TypedAttributeArray<int>::attributeType());
    points::PointAttributeVector<int> id(ids);
    points::populateAttribute<points::PointDataTree, tools::PointIndexTree, points::PointAttributeVector<int>>(
        spray->tree(), index->tree(), "id", id);
    points::appendAttribute<float>(spray->tree(), "pscale", 0.5f);
    points::appendGroup(spray->tree(), "wet");
    write("points.vdb", {spray}, io::COMPRESS_BLOSC | io::COMPRESS_ACTIVE_MASK);

    std::ofstream stream("stream.vdb", std::ios::binary);
    io::Stream out(stream);
    out.setCompression(io::COMPRESS_ACTIVE_MASK);
    GridCPtrVec grids{leaf<BoolGrid>("bool", false, true, true), tiles<FloatGrid>("last", 0.5f, 1.0f)};
    out.write(grids);
}
